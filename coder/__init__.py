"""The assistant: what a user means, in terms of repositories, patches and proofs."""

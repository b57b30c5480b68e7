"""Runs a repository's tests in the jail and says, by more than an exit code, what came of them."""

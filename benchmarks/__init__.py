"""The measured tables of the README, each made by one command."""

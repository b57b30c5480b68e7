"""Files, git, ignore and secret rules, symbols, and the order in which context is read."""

from coder.repository.repository import Repository

__all__ = ["Repository"]

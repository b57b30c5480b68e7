"""Syntax trees of Python, built by one thread at a time.

Python 3.11 counts how deep a tree that it builds is in one place for all threads. A finalizer that runs meanwhile lets
another thread go on, and where that one builds a tree too, the first ends in "SystemError: AST constructor recursion
depth mismatch" (https://github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading

BUILDING = threading.RLock()
"""Held while a tree is built; again by the same thread, should a finalizer build one."""


def parse(text: str) -> ast.Module:
    """Raises what `ast.parse` does."""
    with BUILDING:
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """The tree of one expression. Raises what `ast.parse` does."""
    with BUILDING:
        return ast.parse(text, mode="eval").body

"""The syntax gate: whether lines of code that were written may still become a file that parses."""

from __future__ import annotations

import ast
import codeop
import warnings

from sandbox.trees import BUILDING

_FLAGS = ast.PyCF_ONLY_AST | codeop.PyCF_ALLOW_INCOMPLETE_INPUT  # type: ignore[attr-defined]
_UNFINISHED = ("incomplete input", "expected an indented block", "expected 'except' or 'finally' block")


def viable(text: str) -> bool:
    """Whether whole lines of Python, from the top of a file on, may be the beginning of one that parses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with BUILDING:
                compile(text, "gate", "exec", _FLAGS, True)
    except SyntaxError as error:
        # Only what is wrong at the very end can still come right.
        at_end = (error.lineno or 0) > text.rstrip("\n").count("\n")
        return at_end and any(words in str(error) for words in _UNFINISHED)
    except (ValueError, RecursionError, MemoryError):
        return False
    return True

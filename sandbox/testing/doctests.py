"""Examples in docstrings, where these are run as tests: they stand in the code, and a repair leaves them alone."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Iterator

from sandbox.trees import parse


def lost(before: str, after: str) -> list[str]:
    """The examples of a Python file that its new text no longer has, or has with another answer; their sources."""
    gone = Counter(_examples(before)) - Counter(_examples(after))
    return [source.strip() for source, _ in gone]


def _examples(text: str) -> Iterator[tuple[str, str]]:
    """What is typed and what is wanted."""
    try:
        tree = parse(text.lstrip("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            try:
                examples = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
            except ValueError:
                continue  # no doctest either
            yield from ((example.source, example.want) for example in examples)

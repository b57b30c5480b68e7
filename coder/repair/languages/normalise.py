"""Candidates that are the same program but for layout and comments are one candidate."""

from __future__ import annotations

from collections.abc import Iterator

from coder.repair.languages.grammar import grammar_of
from coder.repair.languages.tree import TreeSource


def fingerprint(path: str, text: str) -> bytes | None:
    """The words and signs of a file, without comments; None when it does not parse."""
    grammar = grammar_of(path)
    if grammar is None:
        return None
    root = grammar.parser.parse(text.encode("utf-8", "surrogateescape")).root_node
    return None if root.has_error else b"\0".join(_leaves(root))


def original(source: TreeSource) -> bytes:
    return b"\0".join(_leaves(source.root.raw))


def _leaves(root: object) -> Iterator[bytes]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = node.type  # type: ignore[attr-defined]
        if "comment" in kind:
            continue
        children = node.children  # type: ignore[attr-defined]
        # What stands between the children of a text is part of it.
        if not children or "string" in kind or "regex" in kind:
            yield node.text or b""  # type: ignore[attr-defined]
        else:
            waiting.extend(reversed(children))

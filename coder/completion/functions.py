"""Functions around a cursor: the test that it is in, and the stub that could be written. An editor asks at every move
of the cursor, so the tree of a text is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from tree_sitter import Node, Tree

from coder.completion.syntax import parser_of


@dataclass(frozen=True)
class Stub:
    """A function without a body: the half-open range of characters that the body replaces, its indentation, and what
    the body begins with where it stands on a line of its own that is not there yet."""

    name: str
    start: int
    end: int
    indentation: str
    opening: str = ""


def test_at(path: str, text: str, line: int) -> str | None:
    """The pytest node id of the test function around a line (from 0); None where there is none."""
    name = PurePosixPath(path).name
    if not (name.startswith("test_") or name.endswith("_test.py")) or not name.endswith(".py"):
        return None
    names: list[str] = []
    for definition in _around(text, line):
        name_node = definition.child_by_field_name("name")
        names.append((name_node.text or b"").decode("utf-8", "replace") if name_node is not None else "")
        if definition.type == "function_definition" and names[-1].startswith("test"):
            return "::".join((path, *names))
    return None


def stub_at(text: str, offset: int) -> Stub | None:
    """The Python function around an offset whose body is `pass`, `...` or `raise NotImplementedError`, behind a
    docstring or not, or a docstring alone."""
    tree = _tree(text)
    if tree is None:
        return None
    at = len(text[:offset].encode("utf-8", "replace"))
    node = tree.root_node.descendant_for_byte_range(at, at)
    while node is not None and node.type != "function_definition":
        node = node.parent
    body = node.child_by_field_name("body") if node is not None else None
    name = node.child_by_field_name("name") if node is not None else None
    if body is None or name is None:
        return None
    statements = [child for child in body.named_children if child.type != "comment"]
    documented = bool(statements) and _is_docstring(statements[0])
    written = statements[documented:]
    if len(written) != 1 - (documented and not written) or not all(map(_is_nothing, written)):
        return None
    source = text.encode("utf-8", "replace")
    first, last = (written[0].start_byte, body.end_byte) if written else (statements[0].end_byte,) * 2
    start, end, top = (len(source[:byte].decode("utf-8", "replace")) for byte in (first, last, body.start_byte))
    indentation = text[text.rfind("\n", 0, top) + 1 : top]
    if indentation.strip():
        return None
    return Stub((name.text or b"").decode(), start, end, indentation, "" if written else "\n" + indentation)


@lru_cache(maxsize=2)
def _tree(text: str) -> Tree | None:
    """The tree of a Python text; None where the grammar is not installed."""
    parser = parser_of("python")
    return parser.parse(text.encode("utf-8", "replace")) if parser is not None else None


def _around(text: str, line: int) -> Iterator[Node]:
    """The definitions around the text of a line (from 0), with their decorators, the outermost first."""
    tree, lines = _tree(text), text.split("\n", line + 1)
    if tree is None or line >= len(lines):
        return
    content = lines[line].encode("utf-8", "replace")
    place = line, len(content) - len(content.lstrip())
    node = tree.root_node.descendant_for_point_range(place, place)
    ways_up: list[Node] = []
    while node is not None:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if inner is not None and inner.type in ("function_definition", "class_definition") and inner not in ways_up:
            ways_up.append(inner)
        node = node.parent
    yield from reversed(ways_up)


def _is_docstring(node: Node) -> bool:
    return (
        node.type == "expression_statement" and node.named_child_count == 1 and node.named_children[0].type == "string"
    )


def _is_nothing(node: Node) -> bool:
    text = (node.text or b"").decode("utf-8", "replace")
    return text in ("pass", "...") or text.startswith("raise NotImplementedError")

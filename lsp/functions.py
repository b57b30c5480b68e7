"""Functions around a cursor: the test that it is in, and the stub that could be written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from tree_sitter import Node

from coder.repository.symbols import outline
from lsp.syntax import parser_of


@dataclass(frozen=True)
class Stub:
    """A function without a body: the half-open range of characters that the body replaces, and its indentation."""

    name: str
    start: int
    end: int
    indentation: str


def test_at(path: str, text: str, line: int) -> str | None:
    """The pytest node id of the test function around a line (from 0); None where there is none."""
    name = PurePosixPath(path).name
    if not (name.startswith("test_") or name.endswith("_test.py")) or not name.endswith(".py"):
        return None
    around = [
        symbol
        for symbol in outline(path, text).symbols
        if symbol.first_line <= line + 1 <= symbol.last_line and symbol.name.startswith("test")
    ]
    functions = [symbol for symbol in around if symbol.kind == "function"]
    return f"{path}::{functions[0].qualified.replace('.', '::')}" if functions else None


def stub_at(text: str, offset: int) -> Stub | None:
    """The Python function around an offset whose body is `pass`, `...` or `raise NotImplementedError`, behind a
    docstring or not."""
    parser = parser_of("python")
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")
    at = len(text[:offset].encode("utf-8", "replace"))
    node = parser.parse(source).root_node.descendant_for_byte_range(at, at)
    while node is not None and node.type != "function_definition":
        node = node.parent
    body = node.child_by_field_name("body") if node is not None else None
    name = node.child_by_field_name("name") if node is not None else None
    if body is None or name is None:
        return None
    statements = [child for child in body.named_children if child.type != "comment"]
    written = statements[1:] if statements and _is_docstring(statements[0]) else statements
    if len(written) != 1 or not _is_nothing(written[0]):
        return None
    start, end = (len(source[:byte].decode("utf-8", "replace")) for byte in (written[0].start_byte, body.end_byte))
    line_start = text.rfind("\n", 0, start) + 1
    indentation = text[line_start:start]
    return Stub((name.text or b"").decode(), start, end, indentation) if not indentation.strip() else None


def _is_docstring(node: Node) -> bool:
    return (
        node.type == "expression_statement" and node.named_child_count == 1 and node.named_children[0].type == "string"
    )


def _is_nothing(node: Node) -> bool:
    text = (node.text or b"").decode("utf-8", "replace")
    return text in ("pass", "...") or text.startswith("raise NotImplementedError")

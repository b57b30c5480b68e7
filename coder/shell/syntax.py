"""Commands of the shell as a tree: which programs run, with which words, and where text is redirected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@dataclass(frozen=True)
class Word:
    """One argument as written, [start, end) in characters. `value`: without its quotes; None where it is computed."""

    text: str
    start: int
    end: int
    value: str | None


@dataclass(frozen=True)
class Command:
    """One simple command: the program's name (None where it is computed) and its words."""

    program: str | None
    words: tuple[Word, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Redirect:
    """`operator` is one of < > >> &> and their kin; the target is a file or a descriptor."""

    operator: str
    target: Word


@dataclass(frozen=True)
class Script:
    """A command line. `kinds`: the grammar's names of everything in it; `variables`: those that it reads and
    does not set itself."""

    text: str
    commands: tuple[Command, ...]
    redirects: tuple[Redirect, ...]
    kinds: frozenset[str]
    variables: frozenset[str]


class ShellSyntaxError(ValueError):
    """The text is no complete command of the shell."""


_WORDS = {
    "word", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "ansi_c_string", "number",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression", "string_content",
    "translated_string", "regex", "extglob_pattern", "test_operator",
}  # fmt: skip


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


@lru_cache(maxsize=4096)
def parse(text: str) -> Script:
    """Raises ShellSyntaxError: what cannot be parsed is not run and not shown."""
    data = text.encode()
    root = _parser().parse(data).root_node
    if root.has_error or not text.strip():
        raise ShellSyntaxError(f"not a complete shell command: {text}")
    nodes = list(_walk(root))
    commands = tuple(_command(data, node) for node in nodes if node.type == "command")
    redirects = tuple(
        Redirect(_spelled(node.children[-2]), _word(data, node.children[-1]))
        for node in nodes
        if node.type in ("file_redirect", "herestring_redirect") and len(node.children) > 1
    )
    assigned = {_spelled(node) for node in nodes if node.type == "variable_name" and _assigns(node)}
    named = {_spelled(node) for node in nodes if node.type in ("variable_name", "special_variable_name")}
    kinds = frozenset(node.type for node in nodes)
    return Script(text, commands, redirects, kinds, frozenset(named - assigned))


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _spelled(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _assigns(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("variable_assignment", "for_statement")


def _command(data: bytes, node: Node) -> Command:
    program = None
    words = []
    for child in node.children:
        if child.type == "command_name":
            program = _word(data, child.children[0] if child.children else child).value
        elif child.type in _WORDS:
            words.append(_word(data, child))
    return Command(program, tuple(words), *_span(data, node))


def _span(data: bytes, node: Node) -> tuple[int, int]:
    start = len(data[: node.start_byte].decode())
    return start, start + len(_spelled(node))


def _word(data: bytes, node: Node) -> Word:
    return Word(_spelled(node), *_span(data, node), _value(node))


def _value(node: Node) -> str | None:
    text = _spelled(node)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type in ("word", "number", "test_operator", "extglob_pattern", "regex"):
        return re.sub(r"\\(.)", r"\1", text)
    if node.type == "string":
        plain = all(child.type in ('"', "string_content") for child in node.children)
        return re.sub(r'\\([\\"$`])', r"\1", text[1:-1]) if plain else None
    if node.type in ("concatenation", "command_name"):
        parts = [_value(child) for child in node.children] or [text]
        return None if None in parts else "".join(part or "" for part in parts)
    if node.type == "brace_expression":
        return text
    return None

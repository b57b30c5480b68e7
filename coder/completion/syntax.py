"""Whether a text still parses with a completion in it: tree-sitter, where a grammar for the language is installed."""

from __future__ import annotations

import importlib
from functools import cache

from tree_sitter import Language, Node, Parser

from coder.completion.situation import Situation, depth

_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "javascriptreact": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "typescriptreact": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_cpp", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "shellscript": ("tree_sitter_bash", "language"),
    "bash": ("tree_sitter_bash", "language"),
    "sh": ("tree_sitter_bash", "language"),
    "html": ("tree_sitter_html", "language"),
    "css": ("tree_sitter_css", "language"),
}
_BEFORE, _AFTER = 8_000, 2_000  # characters around the cursor that are parsed
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@cache
def parser_of(language: str) -> Parser | None:
    """None where no grammar is known or installed."""
    module, function = _GRAMMARS.get(language, ("", ""))
    try:
        return Parser(Language(getattr(importlib.import_module(module), function)())) if module else None
    except (ImportError, AttributeError, ValueError):
        return None


def parses(situation: Situation, text: str, whole: bool = True) -> bool:
    """Whether the completion brings no new error into the text around it. True where the language has no grammar.

    What the completion opens and leaves open is closed first, and a block that it only begins gets a body. One that is
    not `whole` was cut off: its last line is not judged.
    """
    parser = parser_of(situation.language)
    if not whole:
        text = text.rpartition("\n")[0]
    if parser is None or situation.in_comment or not text:
        return True
    before, after = _top_level(situation.before), situation.after[:_AFTER]
    head = before[: len(before) - len(situation.line_before)]
    rest = after[len(situation.line_after) :]
    written = situation.line_before + text
    line = written + situation.line_after
    without = errors(parser, head + rest)
    return errors(parser, head + _finished(line, situation) + rest) <= without


def errors(parser: Parser, text: str) -> int:
    """How many places of a text do not parse."""
    tree = parser.parse(text.encode("utf-8", "replace"))
    if not tree.root_node.has_error:
        return 0
    count, waiting = 0, [tree.root_node]
    while waiting:
        node: Node = waiting.pop()
        count += node.is_error or node.is_missing
        waiting += [child for child in node.children if child.has_error or child.is_missing]
    return count


def _top_level(before: str) -> str:
    """The last part of the text that begins at the left margin."""
    if len(before) <= _BEFORE:
        return before
    at = len(before) - _BEFORE
    while (at := before.find("\n", at) + 1) > 0:
        if before[at : at + 1].strip() and before[at] not in ")]}#":
            return before[at:]
    return before[before.rfind("\n") + 1 :]


def _finished(line: str, situation: Situation) -> str:
    """The completed lines with what they left open closed."""
    opened: list[str] = []
    quote = ""
    for letter in line:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in _CLOSERS:
            opened.append(_CLOSERS[letter])
        elif opened and letter == opened[-1]:
            opened.pop()
    below = next((one for one in situation.after.split("\n")[1:] if one.strip()), "")
    closed = below.lstrip()[:1] in (")", "]", "}")
    if opened and not closed and situation.language != "markdown":
        line += "".join(reversed(opened))
    if situation.language == "python" and line.rstrip().endswith(":"):
        last = line.rpartition("\n")[2]
        if depth(below) <= depth(last):
            line += " pass"
    return line

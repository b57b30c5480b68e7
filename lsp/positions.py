"""Lines and columns as the protocol counts them.

A line ends with "\\n", "\\r\\n" or "\\r" and nothing else: `str.splitlines` knows more ends (a form feed, for one) and
would lose step with the editor. Columns count code units of the encoding that client and server agreed on; a `str` is
indexed by code points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol import types

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"


def split_lines(text: str) -> list[str]:
    """Lines with their ends; the last one has none, and is empty where the text ends with a line's end."""
    lines = _LINE.findall(text)
    lines.append(text[sum(map(len, lines)) :])
    return lines


def content(line: str) -> str:
    """A line without its end."""
    return line.rstrip("\r\n")


def units(text: str, encoding: str) -> int:
    """The length of a text in code units."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(letter > "\uffff" for letter in text)


def index_of(line: str, character: int, encoding: str) -> int:
    """The index in `line` of a column. Behind the line's text it means the line's end, as the protocol says; within
    a character, its beginning."""
    text = content(line)
    if encoding == UTF32 or text.isascii():
        return min(max(character, 0), len(text))
    counted = 0
    for index, letter in enumerate(text):
        counted += units(letter, encoding)
        if counted > character:
            return index
    return len(text)


def place_of(lines: Sequence[str], position: types.Position, encoding: str) -> tuple[int, int]:
    """Line and index of a position; behind the last line it means the text's end."""
    if position.line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    return position.line, index_of(lines[position.line], position.character, encoding)


def position_of(lines: Sequence[str], line: int, index: int, encoding: str) -> types.Position:
    """The position of an index in a line."""
    return types.Position(line, units(lines[line][:index], encoding))

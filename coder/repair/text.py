"""A file's text with the way from lines to offsets and back."""

from __future__ import annotations

from bisect import bisect_right


class Text:
    """Lines count from 1 and end at `\\n`; offsets count characters."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = [line + "\n" for line in text.split("\n")]
        self.lines[-1] = self.lines[-1][:-1]
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def line_start(self, line: int) -> int:
        """The offset of the first character of a line, or the end of the text behind the last one."""
        return self._starts[min(line - 1, len(self._starts) - 1)]

    def line_of(self, offset: int) -> int:
        """The line that holds the character at `offset`; one more than there are lines at the end of the text."""
        return bisect_right(self._starts, offset, 0, len(self.lines) + 1)

    def line_end(self, line: int) -> int:
        """The offset behind the last character of a line, before what ends it."""
        return self.line_start(line) + len(self.lines[line - 1].rstrip("\r\n"))

    def indentation_of(self, line: int) -> str:
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip(" \t"))]

    @property
    def newline(self) -> str:
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

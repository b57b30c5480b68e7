"""Where a completion is asked for: the text around a cursor, and what kind of text may go there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain, pairwise

COMMENTS = {
    "python": "#", "shellscript": "#", "bash": "#", "sh": "#", "ruby": "#", "yaml": "#", "toml": "#", "makefile": "#",
    "javascript": "//", "javascriptreact": "//", "typescript": "//", "typescriptreact": "//", "go": "//", "rust": "//",
    "java": "//", "c": "//", "cpp": "//", "css": "/*", "html": "<!--", "markdown": "<!--",
}  # fmt: skip
_OPENERS = (":", "{", "(", "[", "=>", "->")
_CLOSERS = re.compile(r"[\s)\]}>;,:'\"`]*\Z")


@dataclass(frozen=True)
class Situation:
    """`before` and `after`: the text on both sides of the cursor, with "\\n" for every end of line, `before` from the
    start of a line on, where that is not too long. `path` is for the model to read, `uri` and `name` (under which
    the knowledge has the file) for the server. `elsewhere`: the document's lines that neither of the two holds, and
    those of the other cells of its notebook."""

    uri: str
    path: str
    language: str
    before: str
    after: str
    name: str = ""
    elsewhere: Sequence[str] = field(default=(), compare=False, repr=False)

    @property
    def line_before(self) -> str:
        return self.before.rpartition("\n")[2]

    @property
    def line_after(self) -> str:
        return self.after.partition("\n")[0]

    @property
    def indentation(self) -> str:
        """Of the cursor's line."""
        return margin(self.line_before)

    @property
    def indent_unit(self) -> str:
        """What a line is indented by behind one that opens a block: as at the nearest such place above, else below;
        where there is none, as is usual."""
        above = [line for line in self.before.split("\n") if line.strip()]
        below = [line for line in self.after.split("\n")[1:] if line.strip()]
        for opening, line in chain(reversed(list(pairwise(above))), pairwise(below)):
            outer, inner = margin(opening), margin(line)
            if opening.rstrip().endswith((":", "{")) and inner != outer and inner.startswith(outer):
                return inner[len(outer) :]
        return "\t" if self.language == "go" else "    "

    @property
    def mid_line(self) -> bool:
        """Whether something other than closing signs stands behind the cursor on its line."""
        return _CLOSERS.match(self.line_after) is None

    @property
    def in_comment(self) -> bool:
        mark = COMMENTS.get(self.language)
        return mark is not None and self.line_before.lstrip().startswith(mark)

    @property
    def starts_block(self) -> bool:
        """Whether a block begins here: the cursor stands on an empty line below one that opens it."""
        if self.line_before.strip() or self.line_after.strip():
            return False
        above = next((line for line in reversed(self.before.split("\n")[:-1]) if line.strip()), "")
        return above.rstrip().endswith(_OPENERS) or above.strip().endswith(('"""', "'''"))

    def typed(self, text: str) -> Situation:
        """The situation after `text` was written here."""
        return replace(self, before=self.before + text)


def end_of(line: str, limit: int) -> str:
    """A line; of one longer than `limit` characters its end, at least half as long, from a place on that stays where it
    is while many letters are typed."""
    step = limit // 2
    return line if len(line) <= limit else line[-(-(len(line) - limit) // step) * step :]


def margin(line: str) -> str:
    """The white space that a line is indented by."""
    return line[: depth(line)]


def depth(line: str) -> int:
    """How many characters a line is indented by."""
    return len(line) - len(line.lstrip())


class Lines(Enum):
    """What a completion may consist of: the rest of the cursor's line; that and further ones, as long as the model is
    sure of each; or a block."""

    ONE = "one"
    SURE = "sure"
    BLOCK = "block"


def lines_wanted(situation: Situation, setting: str) -> Lines:
    """What a completion in a situation may consist of, by the setting `multiline`."""
    if setting == "never" or situation.mid_line or situation.in_comment:
        return Lines.ONE
    return Lines.BLOCK if setting == "always" or situation.starts_block else Lines.SURE

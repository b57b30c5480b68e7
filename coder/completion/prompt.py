"""What the model reads before it writes: the file's path and imports, and the text above the cursor.

The text begins at an anchor, a line whose number is a multiple of a stride that depends on the budget: as the cursor
moves down, the beginning stays the same for many lines, and what was read of it stays true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coder.completion.situation import COMMENTS, Situation, end_of

BUDGET = 1600  # characters above the cursor: twice as much writes no more lines right once the n-gram cache is mixed in
WHOLE = 8000  # characters above the cursor that are looked for among what was read before, from the file's beginning on
HEAD_BUDGET = 600
_IMPORT = re.compile(
    r"^(?:from\s+\S+\s+import\s.+|import\s.+|#include\s.+|use\s.+;|const\s.+=\s*require\(.+|package\s.+)$", re.M
)


@dataclass(frozen=True)
class Prompt:
    """`head` (what stands for the skipped beginning of the file) and `body` (the text up to the cursor). `shorter`: the
    same with later beginnings, which may have been read already when the cursor comes from below; last, where it is not
    long, with all of the file above the cursor."""

    head: str
    body: str
    shorter: tuple[Prompt, ...] = ()

    @property
    def text(self) -> str:
        return self.head + self.body

    def extended(self, text: str) -> Prompt:
        """With `text` written at the cursor."""
        return Prompt(self.head, self.body + text, tuple(one.extended(text) for one in self.shorter))


def prompt_of(situation: Situation, lines: Sequence[str], line: int, earlier: Sequence[str] = ()) -> Prompt:
    """The prompt for a cursor in `line` of the document's `lines`; `earlier` are the notebook cells above."""
    first, *later = anchors(lines, line)
    if first and len(situation.line_before) <= BUDGET and sum(map(len, lines[:line])) <= WHOLE:
        later.append(0)  # what `coder fix` reads, it reads from the beginning
    prompt, *others = (_from(start, situation, lines, line, earlier) for start in (first, *later))
    return replace(prompt, shorter=tuple(others))


def prompt_behind(situation: Situation) -> Prompt:
    """The prompt where all that stands before the cursor is in `situation.before`, no document behind it."""
    lines = [line + "\n" for line in situation.before.split("\n")]
    return prompt_of(situation, lines, len(lines) - 1)


def _from(start: int, situation: Situation, lines: Sequence[str], line: int, earlier: Sequence[str]) -> Prompt:
    """The prompt whose text begins at line `start`."""
    body = "".join(one.rstrip("\r\n") + "\n" for one in lines[start:line]) + end_of(situation.line_before, BUDGET)
    head = _path_line(situation)
    if start > 0:
        skipped = "\n".join(one.rstrip("\r\n") for one in lines[: min(start, 200)])
        head += _within("\n".join(_IMPORT.findall(skipped)), HEAD_BUDGET)
    elif earlier:
        head += "".join(cell[-HEAD_BUDGET:].rstrip("\n") + "\n" for cell in earlier[-3:])
    return Prompt(head, body)


def anchors(lines: Sequence[str], line: int) -> list[int]:
    """Lines where the text for the model may begin, the best first: the file's first one, or a multiple of the stride
    that keeps at least half the budget above the cursor; then the next two multiples."""
    size = first = 0
    for number in range(line, -1, -1):
        size += len(lines[number])
        if size > BUDGET:
            first = number + 1
            break
    if first == 0:
        return [0]
    stride = max(1, (line - first) // 2)
    stride = 1 << (stride.bit_length() - 1)  # a power of two: the same for many cursor lines
    start = -(-first // stride) * stride
    return [min(start, line), *(later for later in (start + stride, start + 2 * stride) if later <= line - stride)]


def _path_line(situation: Situation) -> str:
    mark = COMMENTS.get(situation.language, "#")
    end = {"/*": " */", "<!--": " -->"}.get(mark, "")
    return f"{mark} {situation.path}{end}\n" if situation.path else ""


def _within(text: str, limit: int) -> str:
    """The first whole lines of a text, up to a limit of characters."""
    kept: list[str] = []
    for line in text.split("\n"):
        if line and sum(map(len, kept)) + len(kept) + len(line) <= limit:
            kept.append(line)
    return "".join(line + "\n" for line in kept)

"""When a text that is being written is long enough: at the line's end, or where its block ends."""

from __future__ import annotations

from dataclasses import dataclass

from coder.completion.situation import Lines, Situation, depth

MAX_LINES = 8  # of a block
FURTHER = 2  # lines behind the cursor's own, of which the model must be sure


@dataclass(frozen=True)
class Extent:
    """How far a completion may go: to the end of the line, or over several lines while they are indented by at least
    `least` (a closing bracket: by `outer`), up to a blank line, and no more than `most`. `sure`: only while the
    model is sure of each line."""

    lines: bool
    least: int = 0
    outer: int = 0
    most: int = MAX_LINES
    sure: bool = False

    def cut(self, text: str, whole: bool = False) -> tuple[str, bool]:
        """The part of `text` that belongs to the completion, and whether nothing more can. Where the text is not yet
        `whole`, its last line is not judged while it is blank: it may grow."""
        first, *later = text.split("\n")
        if not self.lines:
            return first, bool(later)
        kept = [first]
        for number, line in enumerate(later, 2):
            closed = number <= len(later) or whole or line.strip()
            if closed and not self._belongs(line):
                return "\n".join(kept), True
            if len(kept) == self.most:
                return "\n".join(kept), True
            kept.append(line)
        return "\n".join(kept), False

    def _belongs(self, line: str) -> bool:
        bare = line.lstrip()
        return bool(bare) and depth(line) >= (self.outer if bare[0] in ")]}" else self.least)


def extent_of(situation: Situation, lines: Lines) -> Extent:
    """The extent of a completion at a cursor."""
    if lines is Lines.ONE:
        return Extent(False)
    if lines is Lines.SURE:
        own = len(situation.indentation)
        return Extent(True, own, own, 1 + FURTHER, sure=True)
    above = next((line for line in reversed(situation.before.split("\n")[:-1]) if line.strip()), "")
    outer = depth(above)
    own = len(situation.indentation)
    if situation.line_before.strip():
        return Extent(True, own + 1, own)
    if situation.starts_block:
        return Extent(True, max(own, outer + 1), min(own, outer))
    return Extent(True, own, max(own - 1, 0))

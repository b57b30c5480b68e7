"""One place to write anew: the gap in its region, and what follows from both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coder.patch import Edit, Proposal, Span
from coder.repair.files import AnyRegion
from coder.repair.languages import gate as braces
from coder.repair.languages.tree import TreeSource
from coder.repair.rewrite import Gap
from coder.repair.syntax import viable

# The share of slips that one rewritten place stands for.
SHARE = 0.05
# Lines of code behind the gap that judge what was written in it.
JUDGES = 1


@dataclass(frozen=True)
class Job:
    """`seed` is for what is drawn."""

    region: AnyRegion
    gap: Gap
    seed: int

    @cached_property
    def old(self) -> str:
        return self.region.source.text[self.gap.start : self.gap.end]

    @cached_property
    def indentation(self) -> str:
        """What stands before a new line; of what replaces a line, it stands there already."""
        return self._indentation_of_line if self.gap.insert else ""

    @property
    def _indentation_of_line(self) -> str:
        return self.region.source.indentation_of(self.region.source.line_of(self.gap.start))

    @cached_property
    def suffix(self) -> str:
        """The lines behind the gap that judge what was written."""
        source, gap = self.region.source, self.gap
        last = source.line_of(gap.end) + (0 if gap.insert else 1)
        return (source.newline if gap.insert else "") + source.text[gap.end : source.line_start(last + JUDGES)]

    @cached_property
    def stop(self) -> str:
        """Where a text for the gap ends: with its line, or before the sign that closes what it stands in."""
        return "\n" if self.gap.whole_line or self.suffix[:1] not in ")]}:," else self.suffix[0]

    @cached_property
    def where(self) -> str:
        return f"{self.region.source.path}:{self.region.source.line_of(self.gap.start)}"

    @cached_property
    def gate(self) -> Callable[[str], bool]:
        """Whether what was written so far, put in the gap, may still be code: whole lines count."""
        source, function = self.region.source, self.region.function
        if isinstance(source, TreeSource):
            grammar, head = source.grammar, source.text[: self.gap.start] + self.indentation
            return lambda text: "\n" not in text or braces.viable(grammar, head + text[: text.rfind("\n") + 1])
        begin = source.line_start(function.lineno) if function is not None else 0
        above = "if 1:\n" if source.text[begin : begin + 1].isspace() else ""
        before = above + source.text[begin : self.gap.start] + self.indentation

        def gate(text: str) -> bool:
            end = text.rfind("\n") + 1
            return not end or viable(before + text[:end])

        return gate

    def ended(self, text: str) -> int | None:
        """Where the first line of a body begins that stands further out than it; None where none does yet."""
        outside = len(self._indentation_of_line)
        at = text.find("\n") + 1
        while 0 < at < len(text):
            line = text[at:].partition("\n")[0]
            if line.strip() and len(line) - len(line.lstrip()) < outside:
                return at
            at = text.find("\n", at) + 1
        return None

    def clean(self, texts: Mapping[str, float | None]) -> dict[str, float | None]:
        """The texts that change something, each once, without white space at the end of a line."""
        found: dict[str, float | None] = {}
        for text, gain in texts.items():
            text = text.rstrip() if self.gap.whole_line else text
            comment = text.lstrip().startswith(self.region.source.comment)
            if text.strip() and text.strip() != self.old.strip() and not comment:
                found.setdefault(text, gain)
        return found

    def proposals(self, texts: Sequence[str]) -> Iterator[Proposal]:
        """The texts as edits of the file."""
        source, gap = self.region.source, self.gap
        kind = "insert" if gap.insert else "write"
        for text in texts:
            replacement = f"{self.indentation}{text}{source.newline}" if gap.insert else text
            note = f"{kind} `{' '.join(text.split())[:48]}` in {self.region.name}"
            edit = Edit(Span(source.path, gap.start, gap.end), replacement)
            yield Proposal((edit,), {}, "rewrite", math.log(SHARE / len(texts)), note)

"""Where the model may write anew: statements on one line, expressions, new lines between them, and whole bodies."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from coder.repair.edits.base import Region
from coder.repair.languages.region import TreeRegion

# How much a kind of place is worth beside a line that stands there.
INSERTED, PART, WHOLE = 0.5, 0.35, 0.3
# Characters of a body that is written anew as a whole.
LONGEST_BODY = 900


@dataclass(frozen=True)
class Gap:
    """A range of the file to write anew; `whole_line` when it ends where its line does, `insert` when it is empty,
    `function` when it is a whole body."""

    start: int
    end: int
    whole_line: bool
    insert: bool
    suspicion: float
    function: bool = False

    @property
    def weight(self) -> float:
        """What it is worth to write here, beside writing a line that stands there."""
        kind = WHOLE if self.function else INSERTED if self.insert else 1.0 if self.whole_line else PART
        return kind * self.suspicion


def gaps(region: Region | TreeRegion) -> list[Gap]:
    """What to rewrite, most suspicious first: statements on one line, then new lines, then larger expressions."""
    if isinstance(region, TreeRegion):
        from coder.repair.languages.gaps import gaps as gaps_of_tree

        return gaps_of_tree(region)
    source = region.source
    lines: list[Gap] = []
    inserts: list[Gap] = []
    parts: list[Gap] = []
    for statement in region.suspects:
        first, last = region.header(statement)
        if last - first > 2:
            continue
        start, _ = source.span(statement)
        end = source.line_start(last + 1) - len(source.newline)
        weight = region.suspect(statement)
        if source.text[source.line_start(first) : start].strip():
            continue
        lines.append(Gap(start, end, True, False, weight))
        inserts.append(Gap(source.line_start(first), source.line_start(first), True, True, weight))
        for node in ast.iter_child_nodes(statement):
            if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                low, high = source.span(node)
                if high - low > 8 and "\n" not in source.text[low:high]:
                    parts.append(Gap(low, high, False, False, weight))
    ordered = sorted(lines, key=lambda gap: -gap.suspicion)
    return [*ordered, *sorted(parts, key=lambda gap: -gap.suspicion), *sorted(inserts, key=lambda gap: -gap.suspicion)]


def places(region: Region | TreeRegion) -> list[Gap]:
    """Its gaps, and its whole body where that is short enough to be written at once."""
    found = gaps(region)
    if isinstance(region, Region) and region.function is not None and len(region.body) > 1:
        source, last = region.source, region.body[-1]
        start, end = source.span(region.body[0])[0], source.span(last)[1]
        weight = max((gap.suspicion for gap in found), default=0.0)
        if (
            found
            and end - start <= LONGEST_BODY
            and not source.text[end : source.line_start(source.line_of(end) + 1)].strip()
        ):
            found.append(Gap(start, end, True, False, weight, function=True))
    return found

"""Where the model may write anew: statements on one line, expressions, new lines between them, and whole bodies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from coder.repair.edits.base import Region
from coder.repair.languages.region import TreeRegion

# How much a kind of place is worth beside a line that stands there; a value that is `hollow` may have lost what was
# there.
INSERTED, PART, WHOLE, VALUE, HOLLOW = 0.5, 0.35, 0.3, 0.9, 2.0
# Characters of a body that is written anew as a whole.
LONGEST_BODY = 900


@dataclass(frozen=True)
class Gap:
    """A range of the file to write anew; `whole_line` when it ends where its line does, `insert` when it is empty,
    `function` when it is a whole body, `value` when it is all that a statement computes, `hollow` if that is a
    constant."""

    start: int
    end: int
    whole_line: bool
    insert: bool
    suspicion: float
    function: bool = False
    value: bool = False
    hollow: bool = False

    @property
    def weight(self) -> float:
        """What it is worth to write here, beside writing a line that stands there."""
        if self.value:
            return (HOLLOW if self.hollow else VALUE) * self.suspicion
        kind = WHOLE if self.function else INSERTED if self.insert else 1.0 if self.whole_line else PART
        return kind * self.suspicion


def gaps(region: Region | TreeRegion) -> list[Gap]:
    """What to rewrite, most suspicious first: statements on one line, what they compute, then larger expressions, then
    new lines."""
    if isinstance(region, TreeRegion):
        from coder.repair.languages.gaps import gaps as gaps_of_tree

        return gaps_of_tree(region)
    source = region.source
    lines: list[Gap] = []
    inserts: list[Gap] = []
    parts: list[Gap] = []
    values: list[Gap] = []
    for statement in region.suspects:
        first, last = region.header(statement)
        if last - first > 2:
            continue
        start, _ = source.span(statement)
        end = source.line_end(last)
        weight = region.suspect(statement)
        if source.text[source.line_start(first) : start].strip():
            continue
        lines.append(Gap(start, end, True, False, weight))
        inserts.append(Gap(source.line_start(first), source.line_start(first), True, True, weight))
        values += _values(region, statement, end, weight)
        for node in ast.iter_child_nodes(statement):
            if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                low, high = source.span(node)
                if high - low > 8 and "\n" not in source.text[low:high]:
                    parts.append(Gap(low, high, False, False, weight))
    return [gap for kind in (lines, values, parts, inserts) for gap in sorted(kind, key=lambda gap: -gap.suspicion)]


def _values(region: Region, statement: ast.stmt, end: int, weight: float) -> Iterator[Gap]:
    """What a statement computes, up to the `end` of its line: returned, assigned, looped over, asked."""
    match statement:
        case ast.Return(value=ast.expr() as node) | ast.For(iter=node) | ast.Raise(exc=ast.expr() as node):
            pass
        case ast.Assign(value=node) | ast.AugAssign(value=node) | ast.AnnAssign(value=ast.expr() as node):
            pass
        case ast.If(test=node) | ast.While(test=node) | ast.Assert(test=node):
            pass
        case _:
            return
    start, stop = region.source.outer_span(node)
    if region.source.text[stop:end].strip() in ("", ":"):
        # A header is written with its colon: what comes before one may hold others.
        yield Gap(start, end, True, False, weight, value=True, hollow=isinstance(node, ast.Constant))


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

"""What the model may write anew in a function: its statements, larger expressions, and new lines between them."""

from __future__ import annotations

from coder.repair.languages.region import TreeRegion
from coder.repair.rewrite import Gap


def gaps(region: TreeRegion) -> list[Gap]:
    """Most suspicious first: statements on one line, then expressions, then new lines."""
    source = region.source
    lines: list[Gap] = []
    inserts: list[Gap] = []
    parts: list[Gap] = []
    for statement in region.suspects:
        first, last = region.header(statement)
        weight = region.suspect(statement)
        if last > first or source.text[source.line_start(first) : statement.start].strip():
            continue
        end = source.line_end(first)
        if statement.start < end:
            lines.append(Gap(statement.start, end, True, False, weight))
        start = source.line_start(first)
        inserts.append(Gap(start, start, True, True, weight))
        for node in region.within(statement):
            if node.end - node.start > 8 and node.last_line == first and not region.is_target(node):
                parts.append(Gap(node.start, node.end, False, False, weight))
    return [gap for kind in (lines, parts, inserts) for gap in sorted(kind, key=lambda gap: -gap.suspicion)]

"""Lines and expressions written anew by the model, with both sides in view.

The model writes from the left context; the right context judges what it wrote (`model.decoding.rewrite`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from coder.patch import Edit, Proposal, Span
from coder.repair.edits.base import Region
from coder.repair.languages.region import TreeRegion
from coder.repair.rank import CONTEXT

# The share of slips that one rewritten line or expression stands for, and how many samples each gets.
SHARE = 0.05
SAMPLES = 12
MAX_TOKENS = 40
# Lines of code after the gap that judge what was written.
JUDGES = 3


@dataclass(frozen=True)
class Gap:
    """A range of the file to write anew; `whole_line` when it ends where its line does, `insert` when it is empty."""

    start: int
    end: int
    whole_line: bool
    insert: bool
    suspicion: float


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


def rewrites(
    region: Region | TreeRegion,
    gap: Gap,
    model: Any,
    tokenizer: Any,
    preface: str,
    seed: int,
    cancel: Callable[[], bool],
) -> Iterator[Proposal]:
    """What the model would write in the gap, each text once."""
    from model.decoding.rewrite import rewrite

    source = region.source
    indent = ""
    if gap.insert:
        line = source.lines[source.line_of(gap.start) - 1]
        indent = line[: len(line) - len(line.lstrip())]
    prefix = preface + source.text[max(0, gap.start - CONTEXT) : gap.start] + indent
    suffix = source.text[gap.end : source.line_start(source.line_of(gap.end) + 1 + JUDGES)]
    if gap.insert:
        suffix = source.newline + suffix
    stop = ["\n"] if gap.whole_line else ["\n", suffix[:1]] if suffix[:1] in ")]}:," else ["\n"]
    old = source.text[gap.start : gap.end]
    found: dict[str, float] = {}
    for written in rewrite(model, tokenizer, prefix, suffix, SAMPLES, MAX_TOKENS, stop, seed, cancel):
        text = written.text.rstrip() if gap.whole_line else written.text
        if text.strip() and text != old and "\n" not in text and not text.lstrip().startswith(source.comment):
            found[text] = max(found.get(text, -math.inf), written.logprob)
    if not found:
        return
    for text, _ in sorted(found.items(), key=lambda item: -item[1]):
        replacement = f"{indent}{text}{source.newline}" if gap.insert else text
        edit = Edit(Span(source.path, gap.start, gap.end), replacement)
        note = f"{'insert' if gap.insert else 'write'} `{' '.join(text.split())[:48]}` in {region.name}"
        yield Proposal((edit,), {}, "rewrite", math.log(SHARE / len(found)), note)

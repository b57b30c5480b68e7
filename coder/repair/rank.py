"""The order of candidates: likelihood of the code in context, prior of the pattern, suspicion of the place.

After entropy delta (Yang et al., "Revisiting Unnaturalness for Automated Program Repair in the Era of Large Language
Models", arXiv 2404.15236): a fix makes the changed lines and their neighbours more likely.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coder.patch import apply_edits
from coder.repair.candidate import Candidate
from coder.repair.text import Text


@dataclass(frozen=True)
class Weights:
    """Nats of score for one nat of each part. `cheap` stands in for `likelihood` until the model has read the lines.

    Fitted on injected bugs of the tuning half. On 31 of them the true edit stood at place 134 of some 40,000 by pattern
    and place alone (median), at 8 when skimmed, at 4 when the best 64 were read; `suspicion` was refitted on 72, with
    what `complaint` adds.
    """

    likelihood: float = 0.4
    cheap: float = 0.4
    prior: float = 1.0
    suspicion: float = 3.0


WEIGHTS = Weights()
# Code before the changed lines that the model sees, in characters; code that it skims in one pass beyond that; lines
# behind the changed ones that it judges. With twice as much, and the failing tests before it, it orders no better on
# the bugs for tuning, at three times the time.
CONTEXT = 1200
SPAN = 1500
AFTER = 2
# One token says little about a whole change, and no change gains more than that: beyond these bounds (nats) the model's
# word counts no more.
DOUBTED, TRUSTED = 4.0, 8.0
MOST = 15.0
# What a longer text loses by its length alone is given back: about one nat per token.
PER_CHARACTER = 0.3
# More lines than that in one hunk are not worth a pass.
LONGEST = 24


def score(candidate: Candidate, weights: Weights = WEIGHTS) -> float:
    """Higher is likelier, for what a trial costs."""
    likelihood = (weights.likelihood if candidate.exact else weights.cheap) * candidate.likelihood
    suspicion = math.log(max(candidate.suspicion, 1e-3))
    known = likelihood + weights.prior * candidate.proposal.prior + weights.suspicion * suspicion + candidate.told
    return known - candidate.base.handicap - candidate.cost


class Reader:
    """Gives candidates their likelihood. `scorer` is a `model.scoring.Scorer`; `cancelled` is asked between passes."""

    def __init__(self, scorer: Any, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._scorer = scorer
        self._cancelled = cancelled
        self._before: dict[tuple[int, str, int, int], float] = {}

    def windows(self, candidates: Sequence[Candidate]) -> list[list[Candidate]]:
        """Candidates of one base and file that lie near to each other: each group can be skimmed in one short pass.
        The group with the likeliest candidate comes first."""
        groups: list[list[Candidate]] = []
        place: tuple[int, str] | None = None
        start = 0
        for key, offset, candidate in sorted(self._spots(candidates), key=lambda spot: spot[:2]):
            if key != place or offset > start + SPAN:
                groups.append([])
                place, start = key, offset
            groups[-1].append(candidate)
        return sorted(groups, key=lambda group: -max(candidate.score for candidate in group))

    def _spots(self, candidates: Sequence[Candidate]) -> Iterator[tuple[tuple[int, str], int, Candidate]]:
        for candidate in candidates:
            if len(candidate.proposal.paths) == 1:
                start = min(edit.span.start for edit in candidate.proposal.edits)
                yield (id(candidate.base), candidate.proposal.paths[0]), start, candidate

    def skim(self, candidates: Sequence[Candidate]) -> None:
        """The cheap score of a window's candidates: how much likelier the first token of the change is than what
        stands there now. One pass over the code for all."""
        if self._cancelled() or not candidates:
            return
        source = candidates[0].base.sources[candidates[0].proposal.paths[0]]
        spots = [_first_difference(source, candidate) for candidate in candidates]
        offsets = sorted({offset for offset, _, _ in spots})
        low = _context_start(source, offsets[0])
        high = source.line_start(source.line_of(offsets[-1]) + 2)
        tables = dict(zip(offsets, self._scorer.first_tokens(source.text[low:high], [o - low for o in offsets])))
        for candidate, (offset, new, old) in zip(candidates, spots):
            table = tables[offset]
            candidate.likelihood = max(-DOUBTED, min(TRUSTED, table(new) - table(old)))
            candidate.skimmed = True
            candidate.score = score(candidate)

    def read(self, candidates: Sequence[Candidate]) -> None:
        """The exact score: the change in log-likelihood of the changed lines and those behind them, given what stands
        before. Candidates that change the same lines share the pass over what stands before."""
        groups: dict[tuple[int, str, int, int], list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            groups[candidate.hunk].append(candidate)
        for (base, path, first, last), members in groups.items():
            if not self._cancelled() and path and last - first < LONGEST:
                self._read_hunk((base, path, first, last), members)
        for candidate in candidates:
            candidate.exact = True
            candidate.score = score(candidate)

    def _read_hunk(self, hunk: tuple[int, str, int, int], candidates: Sequence[Candidate]) -> None:
        _, path, first, last = hunk
        source = candidates[0].base.sources[path]
        start, end = source.line_start(first), source.line_start(last + 1)
        prefix = source.text[_context_start(source, start) : start]
        suffix = source.text[end : source.line_start(last + 1 + AFTER)]
        middles = [_middle(candidate, start, end) for candidate in candidates]
        if hunk not in self._before:
            self._before[hunk] = self._scorer.spans(prefix, [source.text[start:end]], suffix)[0]
        before = self._before[hunk]
        for candidate, middle, after in zip(candidates, middles, self._scorer.spans(prefix, middles, suffix)):
            candidate.likelihood = min(MOST, after - before + PER_CHARACTER * (len(middle) - (end - start)))


def _middle(candidate: Candidate, start: int, end: int) -> str:
    """The changed lines as the candidate writes them."""
    source = candidate.base.sources[candidate.proposal.paths[0]]
    text = apply_edits(source.text, candidate.proposal.edits)
    return text[start : len(text) - (len(source.text) - end)]


def _context_start(source: Text, offset: int) -> int:
    """Where the code that the model sees begins: half to all of CONTEXT before, at the start of a line. The same for
    many neighbouring places, so that what was read for one goes on for the next."""
    stride = CONTEXT // 2
    anchor = offset // stride * stride - stride
    return source.line_start(source.line_of(anchor) + 1) if anchor > 0 else 0


def _first_difference(source: Text, candidate: Candidate) -> tuple[int, str, str]:
    """The offset of the word in which the first edit begins to differ, and what follows there after and before."""
    edit = min(candidate.proposal.edits, key=lambda edit: edit.span)
    old = source.text[edit.span.start : edit.span.end + 24]
    new = edit.replacement + source.text[edit.span.end : edit.span.end + 24]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    while same and (old[same - 1 : same] + old[same : same + 1]).isidentifier():
        same -= 1
    return edit.span.start + same, new[same : same + 24], old[same : same + 24]

"""Two slips at once: the likeliest single edits, two by two."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import combinations

from coder.patch import Proposal
from coder.repair.candidate import Candidate
from coder.repair.rank import score

# Single edits that are combined: 80 make 3,160 pairs.
BEST = 80
# Nats that the sum of both scores is too low: each says for itself how rare slips are in this place. Fitted on the
# injected bugs for tuning.
TOGETHER = 1.0


def pairs(singles: Iterable[Candidate]) -> list[Candidate]:
    """Combinations of the best single edits of one base that do not touch each other, of those that are quickly tried.
    The model has skimmed each alone; the sum of what it said stands for both."""
    plain = (c for c in singles if len(c.proposal.edits) == 1 and len(c.proposal.paths) == 1 and not c.cost)
    best = heapq.nlargest(BEST, plain, key=lambda candidate: candidate.score)
    return [_both(one, other) for one, other in combinations(best, 2) if _apart(one, other)]


def _apart(one: Candidate, other: Candidate) -> bool:
    """Whether two edits of one file leave a character between them."""
    a, b = sorted((one.proposal.edits[0].span, other.proposal.edits[0].span))
    return one.base is other.base and a.path == b.path and a.end < b.start


def _both(one: Candidate, other: Candidate) -> Candidate:
    edits = tuple(sorted((*one.proposal.edits, *other.proposal.edits), key=lambda edit: edit.span))
    prior = one.proposal.prior + other.proposal.prior + TOGETHER
    note = f"{one.proposal.note}; {other.proposal.note}"
    candidate = Candidate(
        one.base,
        Proposal(edits, {}, "two edits", prior, note),
        min(one.suspicion, other.suspicion),
        one.likelihood + other.likelihood,
        max(one.cost, other.cost),
        skimmed=True,
    )
    candidate.score = score(candidate)
    return candidate

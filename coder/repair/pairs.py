"""Two slips at once: the likeliest single edits, two by two, anywhere and within one statement."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from coder.patch import Proposal
from coder.repair.candidate import Candidate
from coder.repair.rank import score

# Single edits that are combined: 80 make 3,160 pairs.
BEST = 80
# A statement that is wrong in two ways: so many statements, the likeliest edits of each, and pairs of them.
STATEMENTS, WITHIN, KEPT = 8, 240, 1200
# Nats that the sum of both scores is too low: each says for itself how rare slips are in this place; more so in one
# statement. Fitted on the injected bugs for tuning: with more, bugs of one slip are found later than is won.
TOGETHER, IN_ONE = 1.0, 3.0


def pairs(singles: Iterable[Candidate]) -> list[Candidate]:
    """Combinations of the best single edits of one base that do not touch each other, of those that are quickly tried;
    of the likeliest statements more of them. The model has skimmed each alone; the sum of what it said stands for
    both."""
    plain = [c for c in singles if len(c.proposal.edits) == 1 and len(c.proposal.paths) == 1 and not c.cost]
    best = heapq.nlargest(BEST, plain, key=_score)
    found = {(one, other): TOGETHER for one, other in combinations(best, 2) if _apart(one, other)}
    for members in _statements(plain):
        within = (pair for pair in combinations(members, 2) if _apart(*pair))
        likeliest = heapq.nlargest(KEPT, within, key=lambda pair: pair[0].score + pair[1].score)
        found |= dict.fromkeys(likeliest, IN_ONE)
    return [_both(*pair, together) for pair, together in found.items()]


def _statements(singles: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """The best edits of each of the lines whose edits are likeliest, best first."""
    lines: dict[tuple[int, str, int, int], list[Candidate]] = defaultdict(list)
    for candidate in singles:
        lines[candidate.hunk].append(candidate)
    for members in heapq.nlargest(STATEMENTS, lines.values(), key=lambda members: max(map(_score, members))):
        yield heapq.nlargest(WITHIN, members, key=_score)


def _score(candidate: Candidate) -> float:
    return candidate.score


def _apart(one: Candidate, other: Candidate) -> bool:
    """Whether two edits of one file leave a character between them."""
    a, b = sorted((one.proposal.edits[0].span, other.proposal.edits[0].span))
    return one.base is other.base and a.path == b.path and a.end < b.start


def _both(one: Candidate, other: Candidate, together: float) -> Candidate:
    edits = tuple(sorted((*one.proposal.edits, *other.proposal.edits), key=lambda edit: edit.span))
    prior = one.proposal.prior + other.proposal.prior + together
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

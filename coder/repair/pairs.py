"""Two slips at once: the likeliest single edits, two by two, anywhere and within one statement; and a second edit that
was made on top of one first edit, on top of others."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

from coder.patch import Edit, Proposal, Span
from coder.repair.candidate import Candidate
from coder.repair.rank import score

# Single edits that are combined: 80 make 3,160 pairs.
BEST = 80
# A statement that is wrong in two ways: so many statements, the likeliest edits of each, and pairs of them.
STATEMENTS, WITHIN, KEPT = 8, 240, 1200
# Nats that the sum of both scores is too low: each says for itself how rare slips are in this place; more so in one
# statement. Fitted on the injected bugs for tuning: with more, bugs of one slip are found later than is won.
TOGETHER, IN_ONE = 1.0, 3.0


def pairs(singles: Iterable[Candidate], made: set[tuple[Candidate, Candidate]]) -> list[Candidate]:
    """Combinations of the best single edits of one base that do not touch each other, of those that are quickly tried;
    of the likeliest statements more of them. The model has skimmed each alone; the sum of what it said stands for
    both. Those that are `made` already are left out, and those made now are put in."""
    # What was taken without being admitted does not compile, or is another of them.
    plain = [c for c in singles if len(c.proposal.edits) == 1 and not c.cost and (c.admitted or not c.taken)]
    best = heapq.nlargest(BEST, plain, key=_score)
    found = dict.fromkeys(_apart(best), TOGETHER)
    for members in _statements(plain):
        likeliest = heapq.nlargest(KEPT, _apart(members), key=lambda pair: pair[0].score + pair[1].score)
        found |= dict.fromkeys(likeliest, IN_ONE)
    new = [(pair, together) for pair, together in found.items() if pair not in made]
    made.update(found)
    return [_both(*pair, together) for pair, together in new]


def _statements(singles: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """The best edits of each of the lines whose edits are likeliest, best first."""
    lines: dict[tuple[int, str, int, int], list[Candidate]] = defaultdict(list)
    for candidate in singles:
        _, _, first, last = candidate.hunk
        # Two that both change the same several lines touch each other.
        if first == last:
            lines[candidate.hunk].append(candidate)
    for members in heapq.nlargest(STATEMENTS, lines.values(), key=lambda members: max(map(_score, members))):
        yield heapq.nlargest(WITHIN, members, key=_score)


def _score(candidate: Candidate) -> float:
    return candidate.score


def _apart(members: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Two by two in the order of the text, edits of one file that leave a character between them."""
    placed = sorted(((c.proposal.edits[0].span, c) for c in members), key=lambda place: place[0])
    for (a, one), (b, other) in combinations(placed, 2):
        if a.end < b.start and a.path == b.path and one.base is other.base:
            yield one, other


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


def moved(second: Candidate, first: Candidate, other: Candidate) -> Candidate | None:
    """What was made on top of `first`, made on top of `other` instead, both being edits of one base; None where the
    edits would touch. As likely as it was, less what `other` is less likely than `first`."""
    placed = [before(edit, first.proposal.edits) for edit in second.proposal.edits]
    edits = [*(edit for edit in placed if edit is not None), *other.proposal.edits]
    edits.sort(key=lambda edit: edit.span)
    apart = all(a.span.path != b.span.path or a.span.end < b.span.start for a, b in pairwise(edits))
    if None in placed or not apart:
        return None
    note = f"{other.proposal.note}; {second.proposal.note}"
    prior = other.proposal.prior + second.proposal.prior
    proposal = Proposal(tuple(edits), {}, "two edits", prior, note)
    candidate = Candidate(other.base, proposal, second.suspicion, cost=max(other.cost, second.cost), exact=True)
    candidate.score = second.score + min(0.0, other.score - first.score)
    return candidate


def before(edit: Edit, done: Sequence[Edit]) -> Edit | None:
    """An edit of the text that `done` has made, as one of the text before; None where it lies in what was made."""
    shift = 0
    for earlier in sorted((one for one in done if one.span.path == edit.span.path), key=lambda one: one.span):
        start, end = earlier.span.start + shift, earlier.span.start + shift + len(earlier.replacement)
        if edit.span.end <= start:
            break
        if edit.span.start < end:
            return None
        shift += len(earlier.replacement) - (earlier.span.end - earlier.span.start)
    return Edit(Span(edit.span.path, edit.span.start - shift, edit.span.end - shift), edit.replacement)

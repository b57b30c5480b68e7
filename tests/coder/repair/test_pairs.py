from __future__ import annotations

import pytest

from coder.repair.candidate import Base, Candidate
from coder.repair.edits import propose
from coder.repair.pairs import IN_ONE, TOGETHER, pairs
from coder.repair.rank import score
from tests.coder.repair.helpers import region_of

TEXT = "def f(a, b):\n    c = a\n    return a - b\n"


def singles() -> list[Candidate]:
    region = region_of(TEXT)
    base = Base({"module.py": region.source})
    found = [Candidate(base, proposal, 1.0) for proposal in propose(region)]
    for candidate in found:
        candidate.score = score(candidate)
    return found


def test_two_slips_at_once_are_among_the_pairs() -> None:
    wanted = "def f(a, b):\n    c = b\n    return a + b\n"
    found = singles()
    for candidate in found:
        if candidate.files["module.py"] in (TEXT.replace("a - b", "a + b"), TEXT.replace("c = a", "c = b")):
            candidate.likelihood, candidate.skimmed = 5.0, True
        candidate.score = score(candidate)
    (both,) = [candidate for candidate in pairs(found, set()) if candidate.files["module.py"] == wanted]
    assert both.likelihood == 10.0
    one, other = (c.proposal.prior for c in found if c.likelihood == 5.0)
    assert both.proposal.prior == one + other + TOGETHER
    assert both.score == score(both)


def test_edits_that_touch_are_no_pair() -> None:
    for candidate in pairs(singles(), set()):
        first, second = (edit.span for edit in candidate.proposal.edits)
        assert first.end < second.start


def test_a_statement_that_is_wrong_in_two_ways_is_worth_more_than_two_statements() -> None:
    wanted = "def f(a, b):\n    c = a\n    return b + b\n"
    found = singles()
    right = [
        c for c in found if c.files["module.py"] in (TEXT.replace("a - b", "a + b"), TEXT.replace("a - b", "b - b"))
    ]
    (both,) = [candidate for candidate in pairs(found, set()) if candidate.files["module.py"] == wanted]
    assert both.proposal.prior == sum(c.proposal.prior for c in right) + IN_ONE


def test_of_a_likely_statement_edits_are_combined_that_are_not_among_the_best_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coder.repair.pairs.BEST", 2)
    places = [sorted(edit.span.start for edit in pair.proposal.edits) for pair in pairs(singles(), set())]
    line = TEXT.index("return")
    assert len([one for one, other in places if one > line]) > 100


def test_what_was_refused_is_in_no_pair() -> None:
    found = singles()
    refused = max(found, key=lambda candidate: candidate.score)
    assert any(refused.proposal.edits[0] in pair.proposal.edits for pair in pairs(found, set()))
    refused.taken = True
    assert not any(refused.proposal.edits[0] in pair.proposal.edits for pair in pairs(found, set()))
    refused.admitted = True
    assert any(refused.proposal.edits[0] in pair.proposal.edits for pair in pairs(found, set()))


def test_a_pair_is_made_once_though_more_edits_come() -> None:
    found, made = singles(), set()
    first = pairs(found[:40], made)
    more = pairs(found, made)
    files = [candidate.proposal.edits for candidate in [*first, *more]]
    assert first and more and len(files) == len(set(files))
    assert pairs(found, made) == []

from __future__ import annotations

import pytest

from coder.patch import Edit, Proposal, Span
from coder.repair.candidate import Base, Candidate
from coder.repair.edits import propose
from coder.repair.pairs import IN_ONE, TOGETHER, before, moved, pairs
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


def edit_of(text: str, old: str, new: str, path: str = "module.py") -> Edit:
    start = text.index(old)
    return Edit(Span(path, start, start + len(old)), new)


def done(text: str, *edits: Edit) -> Candidate:
    base = Base({"module.py": region_of(text).source})
    return Candidate(base, Proposal(edits, {}, "operand", -1.0, "note"), 1.0, score=-2.0)


def test_a_second_edit_is_moved_from_one_first_edit_to_another() -> None:
    first = done(TEXT, edit_of(TEXT, "c = a", "c = abs(a)"))
    other = done(TEXT, edit_of(TEXT, "c = a", "c = b\n    c += 1"))
    other.score = -3.5
    after = first.files["module.py"]
    second = done(after, edit_of(after, "a - b", "a + b"))
    found = moved(second, first, other)
    assert found is not None and found.base is other.base
    assert found.files["module.py"] == "def f(a, b):\n    c = b\n    c += 1\n    return a + b\n"
    assert found.score == second.score - 1.5


def test_a_second_edit_of_what_the_first_has_written_stays_where_it_is() -> None:
    first = done(TEXT, edit_of(TEXT, "c = a", "c = abs(a)"))
    after = first.files["module.py"]
    assert moved(done(after, edit_of(after, "abs", "len")), first, done(TEXT, edit_of(TEXT, "c = a", "c = b"))) is None
    second = done(after, edit_of(after, "a - b", "a + b"))
    assert moved(second, first, done(TEXT, edit_of(TEXT, "return a - b", "return b"))) is None


def test_an_edit_is_placed_as_if_earlier_ones_were_not_made() -> None:
    text = "one two three\n"
    earlier = [edit_of(text, "one", "a longer one"), edit_of(text, "three", "3")]
    after = "a longer one two 3\n"
    assert before(edit_of(after, "two", "2"), earlier) == edit_of(text, "two", "2")
    assert before(edit_of(after, "3", "4"), earlier) is None
    assert before(edit_of(after, "two", "2", "other.py"), earlier) == edit_of(after, "two", "2", "other.py")

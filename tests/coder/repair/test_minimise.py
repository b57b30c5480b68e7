from __future__ import annotations

from coder.patch import Edit, Proposal, Span, apply_edits
from coder.repair.context import edits_between
from coder.repair.minimise import minimise

EDITS = tuple(Edit(Span("m.py", at, at + 1), "x") for at in (0, 2, 4))


def test_only_what_is_needed_stays() -> None:
    smaller = minimise(Proposal(EDITS), lambda proposal: EDITS[1] in proposal.edits)
    assert smaller.edits == (EDITS[1],)


def test_what_is_all_needed_stays_whole() -> None:
    assert minimise(Proposal(EDITS), lambda proposal: len(proposal.edits) == 3).edits == EDITS


def test_edits_between_two_texts_make_one_of_the_other() -> None:
    before, after = "a\nb\nc\nd\n", "a\nB\nc\nnew\nd\n"
    edits = edits_between("m.py", before, after)
    assert len(edits) == 2
    assert apply_edits(before, edits) == after

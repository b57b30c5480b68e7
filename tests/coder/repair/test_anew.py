from __future__ import annotations

from coder.patch import Proposal
from coder.repair.anew import SHARE, Anew
from coder.repair.candidate import Base, Candidate


def candidate(score: float) -> Candidate:
    return Candidate(Base({}), Proposal((), {}, "", 0.0, ""), 1.0, score=score)


def test_the_likeliest_comes_first_and_is_hasty_no_more() -> None:
    anew, one, two = Anew(), candidate(-3.0), candidate(-1.0)
    for each in (one, two):
        assert each.hasty
        anew.add(each)
    assert anew.take() is two and anew.take() is one and anew.take() is None
    assert not one.hasty


def test_second_trials_take_their_share_of_the_time() -> None:
    anew = Anew()
    assert not anew.due(10.0), "nothing is there"
    anew.add(candidate(0.0))
    assert anew.due(10.0)
    anew.spent = SHARE * 10.0 + 0.1
    assert not anew.due(10.0) and anew.due(11.0)

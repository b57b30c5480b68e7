"""Drafts along a text that is being rewritten."""

from __future__ import annotations

from model.decoding import draft_verify
from model.decoding.aligned import AlignedDrafter
from model.decoding.draft_verify import Drafting
from model.decoding.request import Generation, Settled
from tests.model.toy import ByteTokenizer, RewindableScript

OLD = [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_follows_the_old_text_from_its_beginning() -> None:
    assert AlignedDrafter(OLD, []).propose(3) == [1, 2, 3]
    assert AlignedDrafter(OLD, [1, 2]).propose(4) == [3, 4, 5, 6]
    assert AlignedDrafter(OLD, OLD).propose(4) == []
    assert AlignedDrafter([], [1, 2]).propose(4) == []


def test_goes_on_behind_a_change_once_two_tokens_agree() -> None:
    drafter = AlignedDrafter(OLD, [1, 2, 30, 31])
    assert drafter.propose(4) == []
    drafter.append(4)
    assert drafter.propose(4) == []
    drafter.append(5)
    assert drafter.propose(4) == [6, 7, 8, 9]


def test_goes_on_behind_what_was_left_out_or_added() -> None:
    assert AlignedDrafter(OLD, [1, 2, 5, 6]).propose(2) == [7, 8]
    assert AlignedDrafter(OLD, [1, 2, 99, 3, 4]).propose(2) == [5, 6]


def test_makes_a_change_again() -> None:
    name, new = 50, [60, 61]
    old = [1, name, 2, 3, name, 4, 5, name, 6]
    assert AlignedDrafter(old, [1, *new, 2, 3]).propose(9) == [*new, 4, 5, *new, 6]
    assert AlignedDrafter(old, [1, *new, 2, 3, new[0]]).propose(2) == [new[1], 4]


def test_a_change_that_was_not_made_again_is_forgotten() -> None:
    name, new = 50, [60, 61]
    old = [1, name, 2, 3, name, 4, 5, name, 6]
    assert AlignedDrafter(old, [1, *new, 2, 3, name]).propose(9) == [4, 5, name, 6]


def test_finds_the_place_anywhere_when_four_tokens_agree() -> None:
    old = [*range(100, 200), *OLD[:4], 77, 78]
    assert AlignedDrafter(old, [500, 501, *OLD[:4]]).propose(2) == [77, 78]


def test_a_name_changed_throughout_takes_fewer_passes() -> None:
    """The model writes the right text; every pass that is saved is the drafts' doing."""
    name, new = 200, [210, 211, 212]
    lines = [[100 + n, 61, 120 + n, 42, name, 43, 140 + n, 40, name, 44, 120 + n, 41, 10] for n in range(12)]
    old = [token for line in lines for token in line]
    text = [token for each in old for token in (new if each == name else [each])]
    done = {}
    for sources in ((), (old,)):
        model = RewindableScript(text, len(old))
        request = Generation(old, max_tokens=len(text), sources=sources)
        events = list(draft_verify.generate(model, ByteTokenizer(), request, Drafting(width=16, preview=False)))
        assert [token for event in events if isinstance(event, Settled) for token in event.tokens] == text
        done[len(sources)] = events[-1]
    assert done[1].accepted > 0.9 * len(text) > done[0].accepted
    assert done[1].passes < 0.6 * done[0].passes

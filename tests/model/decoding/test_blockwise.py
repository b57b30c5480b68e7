from __future__ import annotations

from dataclasses import replace

import pytest

from model.decoding.blockwise import BlockEnd, Filling, generate, written_text
from model.decoding.request import Denoised, Finished, Generation, Reason
from tests.model.toy import ByteTokenizer, ScriptedModel, ToyModel

TEXT = "total = 0\nfor one in many:\n    total += one\n"
PROMPT = "x"
FILLING = Filling((len(TEXT),), block=16)


def fill(text: str = TEXT, gate=lambda text: True, filling: Filling = FILLING, **more):
    tokenizer = ByteTokenizer()
    request = Generation(tokenizer.encode(PROMPT), max_tokens=100, **more)
    model = ScriptedModel(tokenizer.encode(text), begin=len(PROMPT))
    return list(generate(model, tokenizer, request, tokenizer.encode("\nreturn total"), gate, filling))


def test_blocks_settle_one_after_the_other_and_pass_the_gate_before_the_next() -> None:
    seen = []
    events = fill(gate=lambda text: seen.append(text) or True)
    ends = [event for event in events if isinstance(event, BlockEnd)]
    assert [(end.index, end.of) for end in ends] == [(1, 3), (2, 3), (3, 3)]
    assert [end.text for end in ends] == seen == [TEXT[:16], TEXT[:32], TEXT]
    assert events[-1].reason is Reason.STOP and events[-1].tokens == len(TEXT)
    assert events.index(ends[0]) > next(at for at, event in enumerate(events) if isinstance(event, Denoised))
    assert written_text(iter(events)) == TEXT


def test_what_does_not_pass_is_tried_again_and_then_given_up() -> None:
    seen = []
    events = fill(gate=lambda text: seen.append(text) or len(text) <= 16)
    assert seen == [TEXT[:16], *[TEXT[:32]] * FILLING.tries], "nothing is written behind a block that did not pass"
    assert events[-1].reason is Reason.LENGTH
    assert written_text(iter(events)) is None


def test_a_later_try_draws_another_text() -> None:
    tokenizer, model = ByteTokenizer(), ToyModel(sharpness=1.0)
    request = Generation(tokenizer.encode(PROMPT), max_tokens=12)
    seen: list[str] = []
    gate = lambda text: seen.append(text) or len(seen) > 1  # noqa: E731
    events = list(generate(model, tokenizer, request, [65], gate, Filling((8,), block=8)))
    assert len(seen) == 2 and seen[0] != seen[1]
    assert written_text(iter(events)) == seen[1]


def test_what_the_text_must_begin_with_may_take_several_blocks() -> None:
    tokenizer = ByteTokenizer()
    request = Generation(tokenizer.encode(PROMPT), max_tokens=12, begin=b"return ", solid=True)
    events = generate(ToyModel(), tokenizer, request, [65], lambda text: True, Filling((12,), block=3))
    text = written_text(events)
    assert text is not None and text.startswith("return ") and not text.encode()[7:8].isspace()


def test_the_length_is_found() -> None:
    filling = replace(FILLING, lengths=(4, 9, 30))
    sure = [0.2] * 4 + [0.99] * 5 + [0.1] * 40
    tokenizer = ByteTokenizer()
    model = ScriptedModel(tokenizer.encode(TEXT), begin=len(PROMPT), certainty=sure)
    events = list(generate(model, tokenizer, Generation([120], max_tokens=40), [10], lambda text: True, filling))
    assert written_text(iter(events)) == TEXT[:9]


def test_cancelled_it_says_so() -> None:
    import threading

    cancel = threading.Event()

    def gate(text: str) -> bool:
        cancel.set()
        return True

    (finished,) = [event for event in fill(gate=gate, cancel=cancel) if isinstance(event, Finished)]
    assert finished.reason is Reason.CANCELLED
    with pytest.raises(ValueError, match="prompt"):
        Generation([], max_tokens=1)

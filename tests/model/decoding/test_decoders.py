"""What all decoders share: stop strings, ends, limits, cancelling, events; and what is each one's own."""

from __future__ import annotations

import threading

import pytest
import torch

from model.decoding import diffusion, expand, infill
from model.decoding.choice import Chooser
from model.decoding.diffusion import Denoising, Measure
from model.decoding.expand import Expansion
from model.decoding.infill import Infilling
from model.decoding.names import DECODERS
from model.decoding.ngram import NgramDrafter
from model.decoding.request import Denoised, Finished, Generation, Reason, Settled, text_of
from model.protocol import Block
from tests.model.toy import END, ByteTokenizer, ScriptedModel, ToyModel

TOKENIZER = ByteTokenizer()
PROMPT = TOKENIZER.encode("say: ")
every_decoder = pytest.mark.parametrize("name", DECODERS)


def scripted(text: str, certainty=()) -> ScriptedModel:
    return ScriptedModel(TOKENIZER.encode(text), len(PROMPT), certainty)


def answer(name: str, text: str, **options) -> tuple[str, Finished]:
    return text_of(DECODERS[name](scripted(text), TOKENIZER, Generation(prompt=PROMPT, **options)))


@every_decoder
def test_writes_what_the_model_says_and_stops_at_the_end(name) -> None:
    text, done = answer(name, "größer € 𝄞 done")
    assert text == "größer € 𝄞 done"
    assert done.reason is Reason.STOP and done.tokens == len(text.encode())


@every_decoder
@pytest.mark.parametrize("limit", [1, 5, 33, 40])
def test_limit(name, limit) -> None:
    text, done = answer(name, "x" * 100, max_tokens=limit)
    assert text == "x" * limit and done.reason is Reason.LENGTH and done.tokens == limit


@every_decoder
@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (("!",), "one two"),
        (("two",), "one "),
        (("o!x", "wo!"), "one t"),
        (("e tw", "one"), ""),
        (("zzz",), "one two! go"),
    ],
)
def test_stop_strings(name, stop, expected) -> None:
    text, done = answer(name, "one two! go", stop=stop)
    assert text == expected and done.reason is Reason.STOP


@every_decoder
def test_a_cut_character_is_replaced_and_half_a_stop_string_comes_out_at_the_end(name) -> None:
    assert answer(name, "a€", max_tokens=2)[0] == "a\ufffd"
    assert answer(name, "ab##", stop=("###",))[0] == "ab##"


@every_decoder
def test_other_ends(name) -> None:
    assert answer(name, "one;two", ends=(ord(";"),))[0] == "one"


@every_decoder
def test_cancelled_between_passes(name) -> None:
    cancel = threading.Event()
    model = ToyModel(seed=3)
    events = DECODERS[name](model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=200, cancel=cancel))
    next(events)
    cancel.set()
    passes = model.passes
    *_, done = events
    assert done.reason is Reason.CANCELLED and model.passes <= passes + 1


@every_decoder
def test_cancelled_before_it_began_reads_nothing(name) -> None:
    cancel = threading.Event()
    cancel.set()
    model = ToyModel()
    assert list(DECODERS[name](model, TOKENIZER, Generation(prompt=PROMPT, cancel=cancel)))[-1].tokens == 0
    assert model.passes == 0


@every_decoder
def test_goes_on_from_a_state(name) -> None:
    model = ToyModel(seed=4)
    _, state = model.commit(PROMPT[:-2], model.start())
    whole = DECODERS[name](model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=20))
    parted = DECODERS[name](model, TOKENIZER, Generation(prompt=PROMPT[-2:], max_tokens=20, start=state))
    assert text_of(whole) == text_of(parted)


def test_requests_out_of_range() -> None:
    for wrong in (
        {"prompt": []},
        {"max_tokens": 0},
        {"temperature": -1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_p": 0},
        {"top_p": 1.1},
        {"stop": ("",)},
    ):
        with pytest.raises(ValueError):
            Generation(**{"prompt": [1], **wrong})


def test_diffusion_fixes_what_is_sure_first() -> None:
    model = scripted("abcdefgh", [0.95, 0.2, 0.99, 0.6, 0.3, 0.91, 0.5, 0.4])
    events = list(diffusion.generate(model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=8), Denoising(8, 0.9)))
    steps = [event for event in events if isinstance(event, Denoised)]
    assert [not masked for masked in steps[0].masked] == [True, False, True, False, False, True, False, False]
    assert [sum(step.masked) for step in steps] == [5, 4, 3, 2, 1, 0]
    assert not steps[1].masked[3]  # the surest of the rest came next
    assert [len(event.tokens) for event in events if isinstance(event, Settled)] == [1] * 8
    assert events.index(steps[0]) < events.index(next(event for event in events if isinstance(event, Settled)))


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_step_cap_holds(steps) -> None:
    model = scripted("x" * 16, [0.1] * 16)
    *_, done = diffusion.generate(model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=16), Denoising(8, 0.9, steps))
    assert done.tokens == 16
    assert done.passes == 2 * steps + 1  # the commit of the last block is not needed


@pytest.mark.parametrize("measure", Measure)
def test_every_measure_knows_sure_from_unsure(measure) -> None:
    model = scripted("abcd", [0.3, 0.99, 0.6, 0.4])
    denoising = Denoising(4, float("inf"), measure=measure)
    events = diffusion.generate(model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=4), denoising)
    steps = [event.masked for event in events if isinstance(event, Denoised)]
    assert [masked.count(True) for masked in steps] == [3, 2, 1, 0]
    assert not steps[0][1] and not steps[1][2] and not steps[2][3]


def test_blocks_after_an_end_are_not_written() -> None:
    *_, done = diffusion.generate(scripted("ab"), TOKENIZER, Generation(prompt=PROMPT, max_tokens=64), Denoising(32))
    assert done.passes == 1


def test_every_block_is_committed_before_the_next() -> None:
    model = ToyModel(seed=6)
    previewed_at: list[int] = []
    preview = model.preview
    model.preview = lambda block, state: (previewed_at.append(len(state)), preview(block, state))[1]
    list(diffusion.generate(model, TOKENIZER, Generation(prompt=PROMPT, max_tokens=24), Denoising(8, 0.0)))
    assert previewed_at == [5, 13, 21]


class Gap(ToyModel):
    """Is sure of masks in a gap of the right length, says "mid", and finds "mid" likely."""

    def preview(self, block: Block, state):
        logits_TV = super().preview(block, state) * 0.1
        masks = int(block.masked.sum())
        for at in range(masks):
            logits_TV[at, b"mid?"[min(at, 3)]] += 12.0 if masks == 3 else 4.0
        return logits_TV

    def commit(self, tokens, state, *, rows=None):
        logits_TV, after = super().commit(tokens, state, rows=rows)
        return logits_TV * 0.1, after


@pytest.mark.parametrize("judged", [1, 3])
def test_infill_finds_the_length(judged) -> None:
    suffix = TOKENIZER.encode(" end")
    infilling = Infilling(lengths=(1, 2, 3, 4, 8), judged=judged, bias=lambda length: 1.0)
    events = infill.generate(Gap(seed=8), TOKENIZER, Generation(prompt=PROMPT, max_tokens=20), suffix, infilling)
    text, done = text_of(events)
    assert len(text) <= 8
    if judged == 1:
        assert text == "mid" and done.reason is Reason.STOP


@pytest.mark.parametrize(("limit", "written", "reason"), [(20, 20, Reason.LENGTH), (200, 50, Reason.STOP)])
def test_infill_looks_at_longer_gaps_where_the_longest_does_best(limit, written, reason) -> None:
    infilling = Infilling(lengths=(1, 2, 4, 8), judged=1, bias=lambda length: 1 / length)
    request = Generation(prompt=PROMPT, max_tokens=limit)
    text, done = text_of(infill.generate(scripted("x" * 50), TOKENIZER, request, [1, 2], infilling))
    assert (text, done.reason) == ("x" * written, reason)


def test_infill_does_not_prefer_the_shortest_for_being_short(monkeypatch) -> None:
    monkeypatch.setattr(infill, "likelihood", lambda model, before, last, tokens: -0.4 * len(tokens))
    infilling = Infilling(lengths=(2, 5), judged=9)
    request = Generation(prompt=PROMPT, max_tokens=5)
    assert text_of(infill.generate(scripted("abcdefgh"), TOKENIZER, request, [1, 2], infilling))[0] == "abcde"
    assert infill.worth(-2.0, 4) == 0.0


def test_infill_shows_the_model_its_right_context() -> None:
    seen: list[list[int]] = []
    model = Gap(seed=8)
    preview = model.preview
    model.preview = lambda block, state: (seen.append(block.tokens[~block.masked].tolist()), preview(block, state))[1]
    suffix = TOKENIZER.encode("right side")
    list(infill.generate(model, TOKENIZER, Generation(prompt=PROMPT), suffix, Infilling(lengths=(2,), suffix=5)))
    assert seen[0] == suffix[:5]
    assert all(known[-5:] == suffix[:5] for known in seen)


def test_likelihood_is_the_causal_one() -> None:
    model = ToyModel(seed=9)
    logits_TV, _ = model.commit([5, 6, 7, 8], ())
    expected = sum(float(logits_TV[i].float().log_softmax(-1)[token]) for i, token in enumerate([6, 7, 8]))
    assert infill.likelihood(model, (), 5, [6, 7, 8]) == pytest.approx(expected, abs=1e-4)


def test_a_measured_bias_removes_what_length_alone_explains() -> None:
    model = ToyModel(seed=10)
    texts = [TOKENIZER.encode("abcdefghijklmnopqrstuvwxyz" * 2), TOKENIZER.encode("0123456789" * 6)]
    bias = infill.measured_bias(model, texts, (1, 4, 8))
    assert bias(1) != bias(8) and bias(5) == bias(4)
    assert 0 < bias(4) <= 1


class Elastic(ScriptedModel):
    """Says expand while the gap is too short for "word", delete where it is too long, else the word."""

    def preview(self, block: Block, state: int):
        size = int(block.masked.sum()) + int((~block.masked).sum()) - 4
        logits_TV = super().preview(block, state)
        logits_TV[:] = -20.0
        for at in range(len(logits_TV)):
            said = 254 if size < 4 else END if at >= 4 else b"word"[at]
            logits_TV[at, said] = 0.0
        return logits_TV


@pytest.mark.parametrize("masks", [1, 3, 4, 9])
def test_expand_and_delete(masks) -> None:
    request = Generation(prompt=PROMPT, max_tokens=16)
    expansion = Expansion(expand=254, delete=END, masks=masks, suffix=4)
    text, done = text_of(expand.generate(Elastic([], 0), TOKENIZER, request, TOKENIZER.encode("tail"), expansion))
    assert text == "word" and done.reason is Reason.STOP


def test_ngrams_prefer_the_longest_match_and_then_the_first_source() -> None:
    drafter = NgramDrafter([[1, 2, 3, 10, 11], [7, 2, 3, 20, 21]], [9, 7, 2, 3])
    assert drafter.propose(2) == [20, 21]  # three tokens match there
    drafter = NgramDrafter([[1, 2, 3, 10, 11], [7, 2, 3, 20, 21]], [9, 9, 2, 3])
    assert drafter.propose(2) == [10, 11]
    assert NgramDrafter([], [1, 2, 3]).propose(4) == []
    drafter = NgramDrafter([], [1, 2, 3, 4, 1])
    assert drafter.propose(3) == []
    drafter.append(2)
    assert drafter.propose(3) == [3, 4, 1]


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-45, 1e-300])
def test_the_lowest_temperature_takes_the_likeliest(temperature) -> None:
    choice = Chooser(temperature, 0.9, 0).one(torch.tensor([1.0, 5.0, -torch.inf, 2.0]), 0)
    assert choice.token == 1

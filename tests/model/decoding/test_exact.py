"""Draft-verify writes what the autoregressive decoder writes, whoever drafts."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from model.decoding import autoregressive, draft_verify
from model.decoding.choice import Chooser
from model.decoding.draft_verify import Drafting
from model.decoding.request import Finished, Generation, Settled
from tests.model.toy import ByteTokenizer, ForeseeingToy, OnePassToy, RewindableToy, ScriptedModel, ToyModel

TOKENIZER = ByteTokenizer()


def tokens_of(events) -> list[int]:
    return [token for event in events if isinstance(event, Settled) for token in event.tokens]


def chi_square_bound(freedom: int) -> float:
    """The 99.9 % quantile of chi-square (Wilson-Hilferty)."""
    return freedom * (1 - 2 / (9 * freedom) + 3.09 * math.sqrt(2 / (9 * freedom))) ** 3


@pytest.mark.parametrize("kind", [ToyModel, OnePassToy, RewindableToy, ForeseeingToy])
@pytest.mark.parametrize("drafting", [Drafting(1), Drafting(5), Drafting(8, preview=False)])
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_token_for_token(kind, drafting, temperature) -> None:
    for seed in range(4):
        model = kind(vocabulary=12, seed=seed)
        request = dict(
            prompt=[1, 2, 3, 1, 2, 3, 1, 2],
            max_tokens=40,
            temperature=temperature,
            top_p=0.95,
            seed=seed,
            sources=([5, 6, 7, 8, 9, 5, 6],),
        )
        plain = tokens_of(autoregressive.generate(model, TOKENIZER, Generation(**request)))
        drafted = tokens_of(draft_verify.generate(model, TOKENIZER, Generation(**request), drafting))
        assert len(plain) == 40
        assert drafted == plain


def test_foresight_drafts_for_what_stood_and_saves_passes() -> None:
    """Whatever is rejected, the pass that rejects it has drafts for the token that stands in its place."""
    request = Generation(prompt=[1, 2, 3, 1], max_tokens=60)
    saved = 0
    for seed in range(6):
        model = ForeseeingToy(vocabulary=12, seed=seed)
        *_, done = draft_verify.generate(model, TOKENIZER, request, Drafting(8, foresight=3))
        assert isinstance(done, Finished)
        assert model.foreseen, "it was asked to foresee"
        assert max(model.foreseen) <= 1 + 3, "more drafts than it foresees make its passes too large"
        assert done.passes == model.passes - 1, "foresight takes no pass of its own; the other one read the prompt"
        assert done.accepted <= done.drafted
        saved += done.tokens - done.passes
        assert done.passes + done.accepted == done.tokens, "each pass settles its accepted drafts and one token more"
    assert saved > 0
    plain = ForeseeingToy(vocabulary=12)
    list(draft_verify.generate(plain, TOKENIZER, request, Drafting(8, preview=False)))
    assert plain.foreseen == []


def test_no_longer_than_asked() -> None:
    for limit in range(1, 12):
        events = list(draft_verify.generate(ToyModel(), TOKENIZER, Generation(prompt=[1] * 9, max_tokens=limit)))
        assert len(tokens_of(events)) == limit


def test_copying_takes_few_passes() -> None:
    source = TOKENIZER.encode("def area(width, height):\n    return width * height\n")
    model = ScriptedModel(source[4:], begin=4)
    request = Generation(prompt=source[:4], max_tokens=80, sources=(source,))
    *_, done = draft_verify.generate(model, TOKENIZER, request, Drafting(8, preview=False))
    assert isinstance(done, Finished)
    assert done.tokens == len(source) - 4
    assert done.passes <= math.ceil(done.tokens / 9) + 1


def test_perfect_previews_save_passes_and_bad_ones_are_given_up() -> None:
    script = list(range(60, 160))
    good = ScriptedModel(script, begin=1)
    bad = ScriptedModel(script, begin=1, certainty=[0.0] * 200)
    results = []
    for model in (good, bad):
        *_, done = draft_verify.generate(model, TOKENIZER, Generation(prompt=[1], max_tokens=100))
        results.append(done)
    assert all(done.tokens == 100 for done in results)
    assert results[0].passes < 30
    assert results[1].passes < 120


def test_sampled_text_has_the_models_distribution() -> None:
    """Every three-token text of a six-word model, drawn 2,000 times, against its exact probability."""
    words, draws = 6, 2000
    model = RewindableToy(vocabulary=words, sharpness=1.5, seed=5)
    prompt = [0, 1, 2, 3, 0, 1]
    chooser = Chooser(0.8, 0.9, 0)
    expected: dict[tuple[int, ...], float] = {}
    for text in itertools.product(range(words), repeat=3):
        logits_TV, _ = model.commit([*prompt, *text[:-1]], ())
        rows = [chooser.distribution(row) for row in logits_TV[-3:]]
        expected[text] = math.prod(float(row[token]) for row, token in zip(rows, text, strict=True)) * draws
    counts = dict.fromkeys(expected, 0)
    accepted = 0
    for seed in range(draws):
        request = Generation(prompt=prompt, max_tokens=3, temperature=0.8, top_p=0.9, seed=seed)
        *events, done = draft_verify.generate(model, TOKENIZER, request, Drafting(2))
        counts[tuple(tokens_of(events))] += 1
        accepted += done.accepted
    assert accepted > draws / 10  # the drafts mattered
    common = {text for text, value in expected.items() if value >= 5}
    rest = draws - sum(expected[text] for text in common)
    observed_rest = draws - sum(counts[text] for text in common)
    statistic = sum((counts[text] - expected[text]) ** 2 / expected[text] for text in common)
    freedom = len(common) - 1
    if rest >= 5:
        statistic, freedom = statistic + (observed_rest - rest) ** 2 / rest, freedom + 1
    assert freedom > 10
    assert statistic < chi_square_bound(freedom)
    assert all(counts[text] == 0 for text, value in expected.items() if value == 0)


def test_noise_of_neighbouring_positions_is_independent() -> None:
    """A shifted or shared stream would let one position tell the next; a joint chi-square would see it."""
    logits_V = torch.zeros(4)
    joint = torch.zeros(4, 4)
    for seed in range(2000):
        chooser = Chooser(1.0, 1.0, seed)
        joint[chooser.one(logits_V, 0).token, chooser.one(logits_V, 1).token] += 1
    assert float(((joint - 125) ** 2 / 125).sum()) < chi_square_bound(15)

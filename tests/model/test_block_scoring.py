"""The general scorer against the quick one, on a model that both can judge."""

from __future__ import annotations

import pytest

from model.block_scoring import BlockScorer, scorer_of
from model.scoring import Scorer
from model.sprig import Sprig
from tests.model.tiny_llama import CONFIG, tiny_llama
from tests.model.tiny_sprig import tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer, ToyModel


class Letters:
    """One id per character, within the tiny model's vocabulary."""

    end_id = 1
    vocabulary = CONFIG.vocabulary

    def encode(self, text: str) -> list[int]:
        return [2 + ord(letter) % 94 for letter in text]

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        return self.encode(text), [(at, at + 1) for at in range(len(text))]


PREFIX, SUFFIX = "def f(a, b):\n    return ", "\n\n\ndef g():\n"
MIDDLES = ["a + b", "a - b", "sum([a, b])", "", "a + b"]


@pytest.fixture
def scorers():
    model = tiny_llama()
    return Scorer(model, Letters()), BlockScorer(model, Letters())


def test_spans_are_judged_alike(scorers) -> None:
    quick, general = scorers
    expected = quick.spans(PREFIX, MIDDLES, SUFFIX)
    assert general.spans(PREFIX, MIDDLES, SUFFIX) == pytest.approx(expected, abs=1e-3)
    assert general.spans(PREFIX, MIDDLES, SUFFIX) == pytest.approx(expected, abs=1e-3), "from what is remembered"
    assert expected[0] != pytest.approx(expected[1], abs=1e-2)


def test_first_tokens_are_judged_alike(scorers) -> None:
    offsets = [4, 0, len(PREFIX), 17]
    for one, other in zip(scorers[0].first_tokens(PREFIX, offsets), scorers[1].first_tokens(PREFIX, offsets)):
        values = [other(word) for word in ("a", "return", "")]
        if values != [0.0, 0.0, 0.0]:  # nothing is said of the first token of a document
            assert values == pytest.approx([one(word) for word in ("a", "return", "")], abs=1e-3)
    assert [judge("x") for judge in scorers[1].first_tokens(PREFIX, [0])] == [0.0]


def test_surprise_is_alike_behind_the_first_token(scorers) -> None:
    expected, found = (scorer.surprise(PREFIX) for scorer in scorers)
    assert [(one.start, one.end) for one in found] == [(one.start, one.end) for one in expected]
    assert [one.nats for one in found[1:]] == pytest.approx([one.nats for one in expected[1:]], abs=1e-3)
    assert found[0].nats == 0.0


def test_which_scorer_a_model_gets() -> None:
    trunk = tiny_trunk()
    assert isinstance(scorer_of(trunk, Letters()), Scorer)
    assert isinstance(scorer_of(Sprig(trunk, tiny_side()), Letters()), Scorer)
    assert isinstance(scorer_of(ToyModel(), ByteTokenizer()), BlockScorer)

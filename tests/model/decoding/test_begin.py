"""A beginning that the text must have, and what may stand behind it."""

from __future__ import annotations

import pytest
import torch

from model.decoding import autoregressive, diffusion, draft_verify
from model.decoding.diffusion import Denoising
from model.decoding.names import DECODERS
from model.decoding.request import Finished, Generation, Settled, text_of
from tests.model.toy import ByteTokenizer, RewindableToy, ToyModel

TOKENIZER = ByteTokenizer()


def write(decoder, model, **options):
    request = Generation(TOKENIZER.encode("ab"), max_tokens=12, **options)
    events = list(decoder.generate(model, TOKENIZER, request))
    settled = [event for event in events if isinstance(event, Settled) and event.tokens]
    assert isinstance(events[-1], Finished)
    return bytes(token for event in settled for token in event.tokens), [
        p for event in settled for p in event.confidence
    ]


@pytest.mark.parametrize("decoder", [autoregressive, draft_verify])
@pytest.mark.parametrize("seed", range(5))
def test_the_text_begins_as_it_must_and_goes_on_freely(decoder, seed):
    text, confidence = write(decoder, RewindableToy(seed=seed), begin=b"  x")
    assert text.startswith(b"  x") and len(text) > 3
    assert confidence[:3] == [pytest.approx(1.0)] * 3
    free, sure = write(decoder, RewindableToy(seed=seed))
    assert len(sure) == len(free) and all(0 < p <= 1 for p in sure)


class Blank(ToyModel):
    """Wants to write spaces, nine times in ten."""

    def _forward(self, tokens_T, first, both_ways):
        p_V = torch.full((self.vocabulary,), 0.1 / self.vocabulary)
        p_V[ord(" ")], p_V[ord("y")] = 0.9, 0.05
        return p_V.log().expand(len(tokens_T) - first, -1)


def test_solid_text_has_no_white_space_first_and_says_how_unlikely_it_was():
    text, confidence = write(draft_verify, Blank(), begin=b"  ", solid=True)
    assert text.startswith(b"  y ")
    assert confidence[2] == pytest.approx(0.05, abs=0.005)
    assert write(draft_verify, Blank(), begin=b"  ")[0] == b" " * 12


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("seed", range(3))
def test_every_decoder_begins_as_it_must(name, seed):
    request = Generation(TOKENIZER.encode("ab"), max_tokens=12, begin=b"  x = ", solid=True)
    text, done = text_of(DECODERS[name](ToyModel(seed=seed), TOKENIZER, request))
    assert text.startswith("  x = ") and not text.encode()[6:7].isspace() and done.tokens <= 12


def test_a_beginning_may_be_longer_than_a_block():
    request = Generation(TOKENIZER.encode("ab"), max_tokens=12, begin=b"beginning")
    text, _ = text_of(diffusion.generate(ToyModel(), TOKENIZER, request, Denoising(4)))
    assert text.startswith("beginning")

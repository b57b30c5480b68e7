"""Denoising of the whole answer at once, without blocks: Dream (arXiv 2508.15487).

The canvas has room for `max_tokens`, or for as much as the model can hold, and then there are several, one after the
other; each pass fixes an equal share of it, the surest positions first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from model.decoding import diffusion
from model.decoding.diffusion import Denoising, Measure
from model.decoding.request import Event, Generation
from model.protocol import BlockModel, Tokenizer


def generate(
    model: BlockModel[Any],
    tokenizer: Tokenizer,
    request: Generation,
    steps: int | None = None,
    measure: Measure = Measure.ENTROPY,
) -> Iterator[Event]:
    """Writes the continuation of `request.prompt` in at most `steps` passes for a canvas (one per token when None)."""
    whole = Denoising(block=request.max_tokens, threshold=math.inf, steps=steps, measure=measure)
    yield from diffusion.generate(model, tokenizer, request, whole)

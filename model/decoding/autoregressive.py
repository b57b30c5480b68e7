"""One token per pass, from left to right: the reference that the faster decoders are held against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.decoding.request import Event, Generation, read
from model.decoding.run import Run
from model.protocol import BlockModel, Tokenizer


def generate(model: BlockModel[Any], tokenizer: Tokenizer, request: Generation) -> Iterator[Event]:
    """Writes the continuation of `request.prompt`; yields Settled events, then Finished."""
    run = Run(tokenizer, request)
    state = model.start() if request.start is None else request.start
    state = read(model, request.prompt[:-1], state, request.cancel)
    token = request.prompt[-1]
    while run.going:
        logits_TV, state = model.commit([token], state, rows=slice(-1, None))
        run.passes += 1
        token = run.choose(logits_TV[-1]).token
        yield run.settle(token)
    yield run.finish()

"""Filling a gap with whatever way suits the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.decoding import infill
from model.decoding.infill import Infilling
from model.decoding.request import Event, Finished, Generation, Reason, Settled
from model.decoding.rewrite import rewrite
from model.llama import LlamaModel
from model.protocol import BlockModel, Tokenizer

_SAMPLES = 4


def generate(
    model: BlockModel[Any],
    tokenizer: Tokenizer,
    request: Generation,
    prefix: str,
    suffix: str,
    infilling: Infilling | None = None,
) -> Iterator[Event]:
    """Writes what stands between `prefix` (the text of `request.prompt`) and `suffix`; yields the events of a decoder.

    A model that was taught to see masks fills the gap with both sides in view. A bare causal trunk was not: it writes a
    few texts from the left, each up to a stop string or the end of the line, and its likelihood of text and suffix
    together chooses. That way there is no grammar (ValueError).
    """
    if not isinstance(model, LlamaModel):
        yield from infill.generate(model, tokenizer, request, tokenizer.encode(suffix), infilling)
        return
    if request.grammar is not None:
        raise ValueError("this model cannot fill a gap under a grammar: it does not see the right side while it writes")
    texts = rewrite(
        model,
        tokenizer,  # type: ignore[arg-type]
        prefix,
        suffix,
        _SAMPLES,
        request.max_tokens,
        stop=request.stop or ("\n",),
        seed=request.seed,
        cancel=request.cancel.is_set,
    )
    tokens = tuple(tokenizer.encode(texts[0].text)) if texts else ()
    if texts:
        yield Settled(tokens, texts[0].text)
    reason = Reason.CANCELLED if request.cancel.is_set() else Reason.STOP
    yield Finished(reason, len(tokens), passes=0)

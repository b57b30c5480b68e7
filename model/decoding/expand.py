"""Infilling where the model itself says that its canvas is too short or too long: DreamOn (arXiv 2602.01326).

One token of the vocabulary means "two masks here" (expand), another "nothing from here on" (delete; DreamOn uses the
end token). It needs a model trained to say them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from model.decoding.request import Denoised, Event, Generation, Reason, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Tokenizer


@dataclass(frozen=True)
class Expansion:
    """expand, delete: ids of the two signs. masks: how many to begin with. suffix: tokens of right context in the
    block. steps: passes at most."""

    expand: int
    delete: int
    masks: int = 4
    suffix: int = 32
    steps: int = 256


def generate(
    model: BlockModel[Any], tokenizer: Tokenizer, request: Generation, suffix: Sequence[int], expansion: Expansion
) -> Iterator[Event]:
    """Writes what stands between `request.prompt` and `suffix`, one position a pass, the surest (lowest entropy) first;
    yields Denoised events, then Settled events, then Finished. `request.max_tokens` bounds the canvas; there is no
    grammar here (ValueError), for the canvas grows where a grammar could not yet look.
    """
    if request.grammar is not None:
        raise ValueError("a canvas that changes its length cannot follow a grammar: use model.decoding.infill")
    run = Run(tokenizer, request)
    state = read(model, request.prompt, model.start() if request.start is None else request.start, request.cancel)
    right = list(suffix[: expansion.suffix])
    canvas: list[int | None] = [None] * min(expansion.masks, request.max_tokens)
    while run.going and run.passes < expansion.steps and None in canvas:
        open_rows = [at for at, token in enumerate(canvas) if token is None]
        tokens_T = torch.tensor([token or 0 for token in canvas] + right, device=model.device)
        masked_T = torch.tensor([token is None for token in canvas] + [False] * len(right), device=model.device)
        logits_TV = model.preview(Block(tokens_T, masked_T), state)[: len(canvas)].float()
        run.passes += 1
        if len(canvas) == request.max_tokens:
            logits_TV[:, expansion.expand] = -torch.inf
        entropy_T = torch.special.entr(logits_TV.softmax(-1)).sum(-1)
        at = min(open_rows, key=lambda row: float(entropy_T[row]))
        token = int(run.guess(logits_TV[at : at + 1], ahead=run.passes)[0])
        if token == expansion.expand:
            canvas[at : at + 1] = [None, None]
        elif token == expansion.delete or token in run.ends:
            del canvas[at:]
        else:
            canvas[at] = token
        sure = (*(-entropy_T).exp().tolist(), 0.0)[: len(canvas)]
        masked = tuple(token is None for token in canvas)
        yield Denoised(run.passes, tuple(token or 0 for token in canvas), masked, sure)
    for filled in canvas:
        if run.going and filled is not None:
            yield run.settle(filled)
    run.reason = Reason.CANCELLED if request.cancel.is_set() else Reason.STOP
    yield run.finish()

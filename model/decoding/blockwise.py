"""A gap of any length filled block by block with both sides in view, each block past a gate before the next begins.

All masks of the gap stand in the canvas, the right context behind them. The first block of them is settled and
committed; then it is left context of the next. How many masks there should be is found as in `model.decoding.infill`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from model.decoding.diffusion import Denoising, denoise
from model.decoding.infill import Infilling, fitting, longest_middle, rank_lengths
from model.decoding.request import Event, Finished, Generation, Reason, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Tokenizer

Gate = Callable[[str], bool]
"""Whether the text so far may stay."""


@dataclass(frozen=True)
class Filling:
    """block: tokens that are settled before the gate looks. tries: how often a block is written before the text is
    given up; from the second time on its tokens are drawn. lengths: the candidates, in tokens. suffix: tokens of right
    context in view."""

    lengths: tuple[int, ...]
    block: int = 32
    tries: int = 3
    suffix: int = 16
    denoising: Denoising = field(default_factory=Denoising)


@dataclass(frozen=True)
class BlockEnd:
    """Block `index` of `of` went through the gate; `text` is all that is written so far."""

    index: int
    of: int
    text: str


def generate(
    model: BlockModel[Any],
    tokenizer: Tokenizer,
    request: Generation,
    suffix: Sequence[int],
    gate: Gate,
    filling: Filling,
) -> Iterator[Event | BlockEnd]:
    """Writes what stands between `request.prompt` and `suffix`; yields the events of `model.decoding.diffusion`, a
    BlockEnd behind each block, then Finished. Its reason is STOP where everything passed, LENGTH where a block did not
    in any of its tries, CANCELLED where that was asked for. A grammar holds for the whole text."""
    right = list(suffix[: filling.suffix])
    state = read(model, request.prompt, model.start() if request.start is None else request.start, request.cancel)
    written: list[int] = []
    passes, reason = 0, Reason.CANCELLED
    if state is not None and not request.cancel.is_set():
        most = longest_middle(model, request, right)
        lengths = fitting(filling.lengths, most, Run(tokenizer, replace(request, max_tokens=most)))
        length = rank_lengths(model, state, lengths, right, Infilling().bias)[0]
        guide = Run(tokenizer, replace(request, max_tokens=length)).guide
        passes, of, reason = len(lengths), -(-length // filling.block), Reason.STOP
        for index in range(1, of + 1):
            size = min(filling.block, length - len(written))
            spelled = b"".join(map(tokenizer.token_bytes, written))
            for attempt in range(filling.tries):
                run = Run(tokenizer, _drawn(request, size, attempt, spelled), guide and guide.fork())
                canvas = _canvas(model, length - len(written), right)
                events = list(denoise(model, state, canvas, size, run, filling.denoising))
                passes += run.passes
                text = tokenizer.decode([*written, *run.written])
                if request.cancel.is_set() or gate(text):
                    break
            else:
                reason = Reason.LENGTH
                break
            if request.cancel.is_set():
                reason = Reason.CANCELLED
                break
            yield from events
            yield BlockEnd(index, of, text)
            written += run.written
            guide = run.guide
            if run.reason is Reason.STOP:
                break  # the text ended by itself
            if index < of:
                _, state = model.commit(run.written, state, rows=slice(0, 0))
                passes += 1
    yield Finished(reason, len(written), passes)


def written_text(events: Iterator[Event | BlockEnd]) -> str | None:
    """The text of a filling that went through; None where it did not."""
    text = ""
    for event in events:
        if isinstance(event, BlockEnd):
            text = event.text
        elif isinstance(event, Finished):
            return text if event.reason is Reason.STOP else None
    return None


def _drawn(request: Generation, size: int, attempt: int, spelled: bytes) -> Generation:
    """The next `size` tokens behind what was `spelled`: the first attempt as asked for, later ones draw."""
    warm = max(request.temperature, 0.7) if attempt else request.temperature
    return replace(
        request,
        max_tokens=size,
        temperature=warm,
        seed=request.seed + attempt,
        begin=request.begin[len(spelled) :],
        solid=request.solid and len(spelled) <= len(request.begin),
    )


def _canvas(model: BlockModel[Any], masks: int, right: list[int]) -> Block:
    tokens_T = torch.tensor([0] * masks + right, device=model.device)
    return Block(tokens_T, torch.arange(len(tokens_T), device=model.device) < masks)

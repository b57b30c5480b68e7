"""Block diffusion: fill a block of masks in a few bidirectional passes, commit it, go on with the next.

The low-confidence policy: each pass fixes every position whose likeliest token is probable enough, and always some
(Fast-dLLM, arXiv 2505.22618; LLaDA 2.0). The causal commit of each finished block is not optional: without it the next
block reads a state that never saw this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from model.decoding.request import Denoised, Event, Generation, Settled, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Tokenizer


class Measure(Enum):
    """What makes a position sure: its token's probability, the lead over the second, or a low entropy."""

    PROBABILITY = "probability"
    MARGIN = "margin"
    ENTROPY = "entropy"


@dataclass(frozen=True)
class Denoising:
    """block: positions at a time. threshold: fix what is at least this sure. steps: passes per block at most (as many
    as the block has positions when None). measure: see `Measure`; of an entropy (nats), the negative counts."""

    block: int = 32
    threshold: float = 0.9
    steps: int | None = None
    measure: Measure = Measure.PROBABILITY

    @classmethod
    def of(cls, model: BlockModel[Any]) -> Denoising:
        """As the model's checkpoint asks for, where it says so (see `BlockSettings`); else the defaults."""
        asked = getattr(model, "block_settings", None)
        return cls() if asked is None else cls(asked.size, asked.threshold, asked.steps)


def generate(
    model: BlockModel[Any], tokenizer: Tokenizer, request: Generation, denoising: Denoising | None = None
) -> Iterator[Event]:
    """Writes the continuation of `request.prompt`, in blocks no longer than the model can hold; yields Settled and
    Denoised events, then Finished."""
    denoising = denoising or Denoising.of(model)
    longest = min(denoising.block, getattr(model, "longest_block", denoising.block))
    run = Run(tokenizer, request)
    state = model.start() if request.start is None else request.start
    state = read(model, request.prompt, state, request.cancel)
    while run.going:
        size, begin = min(longest, run.left), len(run.written)
        block = Block(torch.zeros(size, dtype=torch.long, device=model.device), torch.ones(size, dtype=torch.bool))
        yield from denoise(model, state, block, size, run, denoising)
        if run.going:
            _, state = model.commit(run.written[begin:], state, rows=slice(0, 0))
            run.passes += 1
    yield run.finish()


def denoise(
    model: BlockModel[Any], state: Any, block: Block, size: int, run: Run, denoising: Denoising
) -> Iterator[Settled | Denoised]:
    """Fills the first `size` positions of `block`, all masked, and settles them in `run`; what stands behind them is
    known context. Ends early when the text ends.

    Under a grammar only an unbroken run of sure tokens from the left is fixed in a pass: what may stand at a place is
    known only once everything before it is. What the text must begin with is fixed in the first pass, by itself.
    """
    tokens_T, masked_T = block.tokens.clone(), block.masked.to(model.device).clone()
    steps = min(denoising.steps or size, size)
    done = step = 0
    while done < size and run.going:
        logits_TV = model.preview(Block(tokens_T, masked_T), state)[:size]
        run.passes += 1
        guess_T, p_T = run.guess(logits_TV[done:])
        sure_T = torch.cat([torch.ones(done, device=p_T.device), _sureness(logits_TV[done:], p_T, denoising.measure)])
        open_T = masked_T[:size]
        quota = math.ceil(int(open_T.sum()) / max(steps - step, 1))
        step += 1
        settled: list[Settled] = []
        if run.guide is not None or run.beginning:
            begin = done
            while done < size and run.going and (run.guide is not None or run.beginning):
                choice = run.choose(logits_TV[done])
                if not run.beginning and done - begin >= quota and choice.confidence < denoising.threshold:
                    break
                settled.append(run.settle(choice.token))
                tokens_T[done], masked_T[done] = choice.token, False
                done += 1
        else:
            rank_T = sure_T.masked_fill(~open_T, -torch.inf)
            fixed_T = open_T & (rank_T >= denoising.threshold)
            fixed_T[rank_T.topk(quota).indices] = True
            every_T = torch.cat([tokens_T[:done], guess_T])
            tokens_T[:size] = torch.where(fixed_T, every_T, tokens_T[:size])
            masked_T[:size] &= ~fixed_T
            _drop_behind_end(tokens_T, masked_T, size, run.ends)
            while done < size and not masked_T[done] and run.going:
                settled.append(run.settle(int(tokens_T[done])))
                done += 1
        yield Denoised(step, tuple(tokens_T[:size].tolist()), tuple(masked_T[:size].tolist()), tuple(sure_T.tolist()))
        yield from settled


def _sureness(logits_TV: torch.Tensor, p_T: torch.Tensor, measure: Measure) -> torch.Tensor:
    """How sure each row is [T]; higher is surer."""
    if measure is Measure.PROBABILITY:
        return p_T
    p_TV = logits_TV.float().softmax(-1)
    if measure is Measure.MARGIN:
        first_T, second_T = p_TV.topk(2, -1).values.unbind(-1)
        return first_T - second_T
    return torch.special.entr(p_TV).sum(-1).neg()


def _drop_behind_end(tokens_T: torch.Tensor, masked_T: torch.Tensor, size: int, ends: frozenset[int]) -> None:
    """What follows a fixed end token will never be read: count it as done."""
    for at, (token, masked) in enumerate(zip(tokens_T[:size].tolist(), masked_T[:size].tolist(), strict=True)):
        if token in ends and not masked:
            tokens_T[at + 1 : size], masked_T[at + 1 : size] = token, False
            return

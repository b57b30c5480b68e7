"""Denoising from random tokens instead of masks: the sampler published with DiffusionGemma.

Every pass predicts the whole canvas. Positions are accepted in order of rising entropy while the sum of the entropies
accepted before stays below a bound; all others become random tokens again. It ends when the canvas is calm. (The
released model also feeds its last prediction back to itself; that is inside a model, not here.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from model.decoding.request import Denoised, Event, Generation, Settled, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Tokenizer


@dataclass(frozen=True)
class UniformNoise:
    """canvas: positions at a time, as far as the model can hold them. steps: passes of a canvas at most. bound: nats of
    entropy accepted in one pass. The temperature falls from `hot` to `cool`. calm: mean entropy (nats) below which a
    canvas that no longer changes is done."""

    canvas: int = 256
    steps: int = 48
    bound: float = 0.1
    hot: float = 0.8
    cool: float = 0.4
    calm: float = 0.005


def generate(
    model: BlockModel[Any], tokenizer: Tokenizer, request: Generation, noise: UniformNoise | None = None
) -> Iterator[Event]:
    """Writes the continuation of `request.prompt`; yields Denoised and Settled events, then Finished.

    The request's temperature and top_p do not apply: the schedule of `noise` does.
    """
    noise = noise or UniformNoise()
    longest = min(noise.canvas, getattr(model, "longest_block", noise.canvas))
    run = Run(tokenizer, request)
    draw = torch.Generator().manual_seed(request.seed)
    state = model.start() if request.start is None else request.start
    state = read(model, request.prompt, state, request.cancel)
    while run.going:
        begin = len(run.written)
        yield from _canvas(model, state, min(longest, run.left), run, noise, draw)
        if run.going:
            _, state = model.commit(run.written[begin:], state, rows=slice(0, 0))
            run.passes += 1
    yield run.finish()


def _canvas(
    model: BlockModel[Any], state: Any, size: int, run: Run, noise: UniformNoise, draw: torch.Generator
) -> Iterator[Settled | Denoised]:
    def random_T() -> torch.Tensor:
        return torch.randint(model.vocabulary, (size,), generator=draw).to(model.device)

    canvas_T, before_T = random_T(), None
    known_T = torch.zeros(size, dtype=torch.bool, device=model.device)  # nothing here is a mask
    done = 0
    for step in range(noise.steps):
        if not run.going or done == size:
            return
        logits_TV = model.preview(Block(canvas_T, known_T), state).float()
        run.passes += 1
        temperature = noise.hot + (noise.cool - noise.hot) * step / max(noise.steps - 1, 1)
        p_TV = (logits_TV / temperature).softmax(-1)
        entropy_T = torch.special.entr(p_TV).sum(-1)
        drawn_T = torch.multinomial(p_TV.cpu(), 1, generator=draw)[:, 0].to(model.device)
        sorted_T, order_T = entropy_T.sort()
        accepted_T = torch.zeros_like(known_T)
        accepted_T[order_T] = sorted_T.cumsum(0) - sorted_T <= noise.bound
        settled: list[Settled] = []
        # Under a grammar a prefix of the canvas is settled for good, at least one position a pass; so is what the text
        # must begin with.
        begin = done
        while done < size and run.going:
            if not run.beginning and (run.guide is None or (done > begin and not bool(accepted_T[done]))):
                break
            choice = run.choose(logits_TV[done])
            settled.append(run.settle(choice.token))
            drawn_T[done] = choice.token
            done += 1
        drawn_T[:begin] = canvas_T[:begin]
        accepted_T[:done] = True
        canvas_T = torch.where(accepted_T, drawn_T, random_T())
        best_T = logits_TV.argmax(-1)
        sure = tuple((-entropy_T).exp().tolist())
        yield Denoised(step + 1, tuple(canvas_T.tolist()), tuple((~accepted_T).tolist()), sure)
        yield from settled
        calm = float(entropy_T.mean()) < noise.calm and before_T is not None and bool((best_T == before_T).all())
        before_T = best_T
        if calm:
            break
    for row in range(done, size):
        if not run.going:
            return
        yield run.settle(run.choose(logits_TV[row]).token if run.guide is not None else int(best_T[row]))

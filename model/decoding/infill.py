"""Text between a known prefix and a known suffix, its length found and not given.

The right context stands in the block as known rows behind the masks, so any BlockModel can do it. Length: the mean
confidence of the first pass over L masks, divided by what that confidence is for any text at L, is highest near the
length that fits (CAL, arXiv 2602.00476). Coarse candidates are looked at first, then the neighbours of the best. Models
trained to change the length themselves: `model.decoding.expand`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from model.decoding.diffusion import Denoising, denoise
from model.decoding.request import Event, Generation, Reason, Settled, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Tokenizer

# Mean first-pass confidence of Sprig's blocks of so many masks in the midst of functions, whatever length was right
# (`measured_bias`, 16 texts).
_MEASURED = {1: 0.86, 2: 0.70, 3: 0.56, 4: 0.51, 6: 0.41, 8: 0.355, 11: 0.31, 15: 0.26, 20: 0.22, 40: 0.16}
ALLOWANCE = 0.5  # nats for each token, see `worth`


def usual_confidence(length: int) -> float:
    """First-pass confidence that a length has anyway, read off between the measured ones."""
    known = list(_MEASURED)
    at = min(max(bisect_left(known, length), 1), len(known) - 1)
    low, high = known[at - 1], known[at]
    share = min(max((length - low) / (high - low), 0.0), 1.0)
    return _MEASURED[low] * (1 - share) + _MEASURED[high] * share


@dataclass(frozen=True)
class Infilling:
    """lengths: the candidates; where the longest of several does best, longer ones are looked at too. bias: mean
    first-pass confidence that a length has anyway (see `measured_bias`). suffix: how many tokens of the right context
    go into the block. judged: so many of the best lengths are written out, and the causal likelihood of middle and
    suffix chooses among them (see `worth`). jointly: the middle is written from left to right by preview and causal
    model together (see `write_jointly`), else by the preview alone, surest places first."""

    lengths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
    bias: Callable[[int], float] = usual_confidence
    suffix: int = 16
    judged: int = 3
    jointly: bool = False
    denoising: Denoising = field(default_factory=Denoising)


def generate(
    model: BlockModel[Any],
    tokenizer: Tokenizer,
    request: Generation,
    suffix: Sequence[int],
    infilling: Infilling | None = None,
) -> Iterator[Event]:
    """Writes what stands between `request.prompt` and `suffix`; yields Denoised and Settled events of the chosen
    middle, then Finished. `request.max_tokens` and the model's longest block bound the length; the reason is LENGTH
    where a middle fills all that they leave. A cancelled search yields the best candidate that was written out by then,
    or nothing.
    """
    infilling = infilling or Infilling()
    right = list(suffix[: infilling.suffix])
    most = longest_middle(model, request, right)
    before = read(model, request.prompt[:-1], model.start() if request.start is None else request.start, request.cancel)
    last = request.prompt[-1]
    best = Run(tokenizer, request)
    best_events: list[Event] = []
    best_score = -math.inf
    passes = 0
    if best.going:
        _, state = model.commit([last], before, rows=slice(0, 0))
        lengths = fitting(infilling.lengths, most, best)
        ranked = rank_lengths(model, state, lengths, right, infilling.bias, most)
        passes += len(ranked)
        for length in ranked[: infilling.judged]:
            if request.cancel.is_set():
                break
            run = Run(tokenizer, replace(request, max_tokens=length))
            block = _block(model, length, right)
            events: list[Event] = list(
                write_jointly(model, before, last, block, length, run)
                if infilling.jointly
                else denoise(model, state, block, length, run, infilling.denoising)
            )
            passes += run.passes
            score = 0.0
            if infilling.judged > 1:
                score = worth(likelihood(model, before, last, [*run.written, *right]), len(run.written))
                passes += 1
            if score > best_score:
                best, best_events, best_score = run, events, score
    yield from best_events
    best.passes = passes
    best.reason = _reason(best, most)
    yield best.finish()


def longest_middle(model: BlockModel[Any], request: Generation, right: Sequence[int]) -> int:
    """Tokens that may stand before `right` in one block of the model."""
    return min(request.max_tokens, getattr(model, "longest_block", request.max_tokens + len(right)) - len(right))


def fitting(lengths: Sequence[int], most: int, run: Run) -> list[int]:
    """Those of the lengths that hold the shortest text of the run's grammar and no more than `most` tokens; where there
    is none, `most`."""
    least = 1 if run.guide is None else run.guide.shortest
    return [length for length in lengths if least <= length <= most] or [most]


def rank_lengths(
    model: BlockModel[Any],
    state: Any,
    lengths: Sequence[int],
    right: Sequence[int],
    bias: Callable[[int], float],
    most: int = 0,
) -> list[int]:
    """`lengths`, and those beside the best two of them within their range, by first-pass confidence over bias, best
    first. Where the longest is the best, longer ones follow, each by half, up to `most`. One pass each; none where
    there is no choice."""
    if len(lengths) < 2:
        return list(lengths)

    def score(length: int) -> float:
        return first_confidence(model, state, length, right) / bias(length)

    scores = {length: score(length) for length in lengths}
    while (best := max(scores, key=scores.__getitem__)) == max(scores) and best < most:
        longer = min(best + (best + 1) // 2, most)
        scores[longer] = score(longer)
    shortest, longest = min(scores), max(scores)
    for length in sorted(scores, key=lambda length: -scores[length])[:2]:
        for near in (length - 1, length + 1):
            if shortest < near < longest and near not in scores:
                scores[near] = score(near)
    return sorted(scores, key=lambda length: -scores[length])


def worth(logprob: float, tokens: int) -> float:
    """By what texts of different lengths are compared: ln p of a text and its right side, with something given back for
    each of its `tokens`. Any one text of a length is unlikely, so bare likelihood would prefer the shortest."""
    return logprob + ALLOWANCE * tokens


def _reason(run: Run, most: int) -> Reason:
    if run.request.cancel.is_set():
        return Reason.CANCELLED
    return Reason.LENGTH if run.reason is Reason.LENGTH and len(run.written) == most else Reason.STOP


def write_jointly(
    model: BlockModel[Any], before: Any, last: int, block: Block, length: int, run: Run
) -> Iterator[Settled]:
    """Fills the first `length` positions of `block` from left to right; each token is chosen by the product of the
    preview's distribution, which sees the right side, and the causal one, which is the better writer. `before` has
    read all but the `last` token of the left side. Two passes for each token."""
    tokens_T, masked_T = block.tokens.clone(), block.masked.to(model.device).clone()
    _, left = model.commit([last], before, rows=slice(0, 0))
    state, token = before, last
    for at in range(length):
        if not run.going:
            return
        causal_TV, state = model.commit([token], state, rows=slice(-1, None))
        seen_V = model.preview(Block(tokens_T, masked_T), left)[at]
        run.passes += 2
        token = run.choose(causal_TV[-1].float().log_softmax(-1) + seen_V.float().log_softmax(-1)).token
        tokens_T[at], masked_T[at] = token, False
        yield run.settle(token)


def first_confidence(model: BlockModel[Any], state: Any, length: int, right: Sequence[int]) -> float:
    """Mean probability of the likeliest tokens in the first pass over `length` masks before `right`."""
    logits_TV = model.preview(_block(model, length, right), state)[:length].float()
    return float(logits_TV.softmax(-1).amax(-1).mean())


def likelihood(model: BlockModel[Any], before: Any, last: int, tokens: Sequence[int]) -> float:
    """Log-probability (nats) that the causal model gives to `tokens` after `before` and then `last`."""
    if not tokens:
        return 0.0
    logits_TV, _ = model.commit([last, *tokens[:-1]], before)
    picked_T = torch.tensor(tokens, device=model.device)
    return float(logits_TV.float().log_softmax(-1).gather(-1, picked_T[:, None]).sum())


def measured_bias(
    model: BlockModel[Any], texts: Sequence[Sequence[int]], lengths: Sequence[int], suffix: int = 16
) -> Callable[[int], float]:
    """The bias of this model: mean first-pass confidence at each of `lengths` in the middle of `texts`, whatever length
    would have been right. Lengths between are read off the nearest measured one."""
    means = dict.fromkeys(lengths, 0.0)
    for text in texts:
        half = len(text) // 2
        _, state = model.commit(list(text[:half]), model.start(), rows=slice(0, 0))
        for length in lengths:
            right = text[half + length : half + length + suffix]
            means[length] += first_confidence(model, state, length, right) / len(texts)
    return lambda length: means[min(means, key=lambda known: abs(known - length))]


def _block(model: BlockModel[Any], length: int, right: Sequence[int]) -> Block:
    tokens_T = torch.tensor([0] * length + list(right), device=model.device)
    return Block(tokens_T, torch.arange(len(tokens_T), device=model.device) < length)

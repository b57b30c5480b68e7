"""Drafts verified in one causal pass: the text of the autoregressive decoder in fewer passes.

Leviathan et al., "Fast Inference from Transformers via Speculative Decoding" (arXiv 2211.17192); drafts come from the
model's own preview (TiDAR, arXiv 2511.08923), from earlier text (`ngram`, `aligned`) and from the grammar. Every
token is chosen from causal logits by the rule of the autoregressive decoder, with the noise of its position (see
`Chooser`): drafts decide how many passes it takes, never what is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch

from model.decoding.aligned import AlignedDrafter
from model.decoding.ngram import NgramDrafter
from model.decoding.request import Event, Generation, read
from model.decoding.run import Run
from model.protocol import Block, BlockModel, Rewindable, Tokenizer

State = TypeVar("State")
Read = TypeVar("Read", contravariant=True)


@runtime_checkable
class OnePass(Protocol[State]):
    """A BlockModel that verifies and drafts in one pass."""

    def step(self, known: Sequence[int], masks: int, state: State) -> tuple[torch.Tensor, Sequence[State]]:
        """Reads `known` causally, with `masks` draft rows behind it.

        Returns logits [K + masks, V] and K states. Row t < K speaks about the token after known[t], exactly as `commit`
        would; row K + m drafts the token m + 1 places after the one that row K - 1 speaks about. states[t] has read
        known[: t + 1].
        """
        ...


class Foresight(Protocol[State]):
    """What one pass over known tokens found: logits [K, V] as `commit` gives them, K states (number k has read
    known[: k + 1]), and drafts for whichever of the known tokens will have stood."""

    logits_KV: torch.Tensor
    states: Sequence[State]

    def drafts(self, row: int, token: int) -> list[int]:
        """The likely continuation, had `token` been written after known[: row + 1]."""
        ...


@runtime_checkable
class Foreseeing(Protocol[State]):
    """A BlockModel that in one pass verifies drafts and drafts for every number of them that may stand."""

    def foresee(self, known: Sequence[int], width: int, state: State) -> Foresight[State]:
        """Reads `known` causally, with `width` draft rows for each of its tokens beside it."""
        ...


@runtime_checkable
class Succeeding(Protocol[Read]):
    """A BlockModel that drafts from its last row, at next to no cost."""

    def succeed(self, state: Read, token: int, width: int) -> list[int]:
        """The likely continuation, had `token` been written after everything read."""
        ...


@dataclass(frozen=True)
class Drafting:
    """width: draft tokens of one pass; up to WIDEST while all of them stand. ngrams: drafts from earlier text and along
    `Generation.sources`. preview: let the model draft in passes of its own where no earlier text matches (one with the
    attribute `drafts = False` is never asked). succession: draft tokens of a Succeeding model. foresight: draft tokens
    that a Foreseeing model looks ahead in the verifying pass, which grows with the square."""

    width: int = 8
    ngrams: bool = True
    preview: bool = True
    succession: int = 4
    foresight: int = 0


# While drafts stand they come in twice as many: on two cores a pass of 16 rows takes a third longer than one of 8.
WIDEST = 32
_LONG = 4  # a match of so many tokens of earlier text is believed before the model's own drafts


class _Patience:
    """Whether previews pay. One preview costs one pass, so it must save one; after a run of failures it rests,
    each time twice as long."""

    def __init__(self) -> None:
        self._saved = 1.0
        self._rest = 0
        self._penalty = 8

    def willing(self) -> bool:
        self._rest -= 1
        return self._rest < 0

    def learn(self, accepted: int) -> None:
        self._saved += 0.3 * (accepted - self._saved)
        if self._saved < 0.5:
            self._rest, self._penalty, self._saved = self._penalty, min(2 * self._penalty, 128), 1.0
        elif self._saved > 1:
            self._penalty = 8


def generate(
    model: BlockModel[Any], tokenizer: Tokenizer, request: Generation, drafting: Drafting | None = None
) -> Iterator[Event]:
    """Writes the continuation of `request.prompt`; yields Settled events, then Finished."""
    drafting = drafting or Drafting()
    run = Run(tokenizer, request)
    state = model.start() if request.start is None else request.start
    pending = list(request.prompt)  # known or written, but not yet in the state
    if len(pending) > drafting.width or isinstance(model, Foreseeing):  # too much for the first pass, or too dear there
        state, pending = read(model, pending[:-1], state, request.cancel), pending[-1:]
    context = (*request.behind, *request.prompt)
    ngrams = NgramDrafter(request.sources, context)
    aligned = [AlignedDrafter(source, context) for source in request.sources] if drafting.ngrams else []
    previews = drafting.preview and getattr(model, "drafts", True)
    patience = _Patience()
    ahead: list[int] = []  # drafts that the last pass left for this one
    reach = drafting.width
    while run.going:
        width = min(reach, run.left - 1)
        drafts = _forced(run, width)
        if not drafts and width > 0:
            drafts = next((drafts for along in aligned if (drafts := along.propose(width))), [])
            drafts = drafts or (ngrams.propose(width, _LONG) if drafting.ngrams else [])
            drafts = drafts or ahead[:width] or _succession(model, state, pending, min(drafting.succession, width))
            drafts = drafts or (ngrams.propose(width) if drafting.ngrams else [])
        previewed = False
        alone = not isinstance(model, (OnePass, Foreseeing))
        if not drafts and width > 0 and previews and alone and patience.willing():
            drafts = _previewed(model, state, run, pending, min(width, drafting.width))
            previewed = True
        masks = min(width, drafting.width) if previews and isinstance(model, OnePass) else 0
        foresight: Foresight[Any] | None = None
        if drafting.foresight and isinstance(model, Foreseeing) and len(drafts) <= drafting.foresight:
            foresight = model.foresee(pending + drafts, drafting.foresight, state)
            logits_TV, states = foresight.logits_KV[len(pending) - 1 :], foresight.states
        else:
            logits_TV, states = _verify(model, state, pending, drafts, masks)
        run.passes += 1
        run.drafted += len(drafts)
        fresh: list[int] = []
        for row in range(len(drafts) + 1):
            token = run.choose(logits_TV[row]).token
            yield run.settle(token)
            ngrams.append(token)
            for along in aligned:
                along.append(token)
            fresh.append(token)
            if not run.going or row == len(drafts) or token != drafts[row]:
                break
        stood = len(fresh) - 1
        run.accepted += stood
        reach = max(reach, min(2 * reach, WIDEST)) if stood == reach else drafting.width
        if previewed:
            patience.learn(stood)
        ahead = []
        if stood == len(drafts) and len(logits_TV) > len(drafts) + 1 and run.going:
            ahead = run.guess(logits_TV[len(drafts) + 1 :])[0].tolist()
        if foresight is not None and run.going:
            ahead = foresight.drafts(len(pending) - 1 + stood, fresh[-1])
        kept = _forget(model, states, len(drafts) - stood)
        if kept is not None:
            state, pending = kept, fresh[-1:]
            continue
        # The state has read rejected drafts and cannot forget them: go on from the one before, and read what stood
        # again together with the next drafts.
        pending = pending + fresh
        if len(pending) > 2 * drafting.width:
            _, state = model.commit(pending[:-1], state, rows=slice(0, 0))
            run.passes += 1
            pending = pending[-1:]
    yield run.finish()


def _forced(run: Run, width: int) -> list[int]:
    """What the grammar leaves no choice about."""
    return run.guide.forecast()[: max(width, 0)] if run.guide is not None else []


def _succession(model: BlockModel[Any], state: Any, pending: list[int], width: int) -> list[int]:
    if width <= 0 or len(pending) > 1 or not isinstance(model, Succeeding):
        return []
    return model.succeed(state, pending[0], width)


def _previewed(model: BlockModel[Any], state: Any, run: Run, pending: list[int], width: int) -> list[int]:
    tokens_T = torch.tensor(pending + [0] * width, device=model.device)
    masked_T = torch.arange(len(tokens_T), device=model.device) >= len(pending)
    logits_TV = model.preview(Block(tokens_T, masked_T), state)
    run.passes += 1
    return run.guess(logits_TV[len(pending) :])[0].tolist()


def _verify(
    model: BlockModel[Any], state: Any, pending: list[int], drafts: list[int], masks: int
) -> tuple[torch.Tensor, Sequence[Any]]:
    """Logits from the last pending row on, and the states that can be kept: one per known row, or only the last."""
    known = pending + drafts
    if isinstance(model, OnePass):
        logits_TV, states = model.step(known, masks, state)
        return logits_TV[len(pending) - 1 :], states
    logits_TV, after = model.commit(known, state, rows=slice(len(pending) - 1, None))
    return logits_TV, [after]


def _forget(model: BlockModel[Any], states: Sequence[Any], count: int) -> Any | None:
    """The state without the last `count` tokens, where the model can give it."""
    if count < len(states):
        return states[-1 - count]
    if isinstance(model, Rewindable):
        try:
            return model.rewind(states[-1], model.position(states[-1]) - count)
        except ValueError:
            return None
    return None

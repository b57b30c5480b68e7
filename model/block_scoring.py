"""How likely a text is to any BlockModel: `model.scoring.Scorer`, which is quicker for its family, for all others.

Shape letters: T rows of a pass, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from model.llama import trunk_of
from model.prefix import in_common
from model.protocol import BlockModel, Tokenizer
from model.scoring import Scorer, TokenSurprise, judges, token_at

_ROWS = 128  # rows whose logits exist at one time: 127 MB for a vocabulary of 248,320
_LONGEST = 4096  # tokens of context that a text is judged behind
_KEPT = 4  # readings whose states are remembered


def scorer_of(model: BlockModel[Any], tokenizer: Any) -> Scorer | BlockScorer:
    """What scores text for this model; Sprig's trunk scores for Sprig."""
    trunk = trunk_of(model)
    return BlockScorer(model, tokenizer) if trunk is None else Scorer(trunk, tokenizer)


class BlockScorer:
    """Log-probabilities in nats from `commit` alone. A state is a value, so alternatives fork from one reading. The
    first token of a fresh document counts nothing: what precedes it is the model's own affair."""

    def __init__(self, model: BlockModel[Any], tokenizer: Tokenizer) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._read: list[tuple[list[int], Any]] = []  # ids and the state that has read them, the latest last

    @torch.inference_mode()
    def surprise(self, text: str) -> list[TokenSurprise]:
        """-ln p of each token of the text."""
        ids, ranges = self._tokenizer.offsets(text)
        values = [0.0, *self._values(ids[:1], ids[1:])] if ids else []
        return [TokenSurprise(*where, -value) for where, value in zip(ranges, values)]

    @torch.inference_mode()
    def spans(self, prefix: str, middles: Sequence[str], suffix: str) -> list[float]:
        """ln p(middle + suffix | prefix) for each middle. The joined text is tokenised as a whole, so a token that
        begins in the prefix counts in full."""
        joined = [self._tokenizer.offsets(prefix + middle + suffix) for middle in middles]
        if not joined:
            return []
        inside = [sum(end <= len(prefix) for _, end in ranges) for _, ranges in joined]
        shared = max(1, min(*(in_common(joined[0][0], ids) for ids, _ in joined), *inside))
        scores = []
        for (ids, _), count in zip(joined, inside):
            values = self._values(ids[max(0, shared - _LONGEST) : shared], ids[shared:])
            scores.append(sum(values[max(0, count - shared) :]))
        return scores

    @torch.inference_mode()
    def first_tokens(self, text: str, offsets: Sequence[int]) -> list[Callable[[str], float]]:
        """For each character offset, a function: ln p of the first token of an alternative written from there. Within
        a token, the alternative is judged with the beginning of that token before it."""
        ids, ranges = self._tokenizer.offsets(text)
        wanted = {token_at(ranges, offset) for offset in offsets} - {0}
        logs: dict[int, torch.Tensor] = {}
        state = self._model.start()
        for begin in range(0, max(wanted, default=0), _ROWS):
            part = ids[begin : begin + _ROWS]
            logits_TV, state = self._model.commit(part, state)
            for at in wanted.intersection(range(begin + 1, begin + len(part) + 1)):
                logs[at] = logits_TV[at - begin - 1].float().log_softmax(-1)
        return judges(text, ranges, offsets, logs, lambda start: next(iter(self._tokenizer.encode(start)), None))

    def _values(self, before: list[int], tokens: list[int]) -> list[float]:
        """ln p of each of `tokens` behind `before` (at least one)."""
        if not tokens:
            return []
        state = self._after(before[:-1])
        asked = [before[-1], *tokens[:-1]]
        values: list[float] = []
        for begin in range(0, len(asked), _ROWS):
            logits_TV, state = self._model.commit(asked[begin : begin + _ROWS], state)
            targets_T = torch.tensor(tokens[begin : begin + _ROWS], device=logits_TV.device)
            values += logits_TV.float().log_softmax(-1).gather(-1, targets_T[:, None])[:, 0].tolist()
        return values

    def _after(self, ids: list[int]) -> Any:
        """The state after these tokens, from the longest remembered beginning of them."""
        known, state = max(
            (entry for entry in self._read if ids[: len(entry[0])] == entry[0]),
            key=lambda entry: len(entry[0]),
            default=([], self._model.start()),
        )
        if len(known) < len(ids):
            _, state = self._model.commit(ids[len(known) :], state, rows=slice(0, 0))
            self._read = [*self._read, (ids, state)][-_KEPT:]
        return state

"""What the model has read, kept so that moving the cursor costs a restore and a short read.

A reading is a sequence of tokens and the state after it. A new request goes on from the reading that begins most like
its own: by rewinding where the model can forget its last tokens, else from a state kept at a block's boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from model.prefix import in_common

BLOCK = 256  # tokens between the states that are kept of a model that cannot go back by itself
STRIDE = 64  # tokens of one pass: a longer one is hardly cheaper, and cannot be cancelled


@dataclass
class _Reading:
    tokens: list[int]
    state: Any
    boundaries: list[tuple[int, Any]] = field(default_factory=list)


class Snapshots:
    """The latest readings of one model, within `tokens` of memory: the least recently used are forgotten first."""

    def __init__(self, model: Any, tokens: int = 4096) -> None:
        self._model = model
        self._limit = tokens
        self._readings: list[_Reading] = []  # the latest one last

    def __len__(self) -> int:
        return sum(len(reading.tokens) for reading in self._readings)

    def clear(self) -> None:
        self._readings.clear()

    def adopt(self, tokens: Sequence[int], states: Sequence[tuple[int, Any]]) -> None:
        """Takes over what another command has read: `states` are pairs of a count of the tokens and the state after so
        many, rising, the last one after all."""
        if tokens and self.missing(tokens):
            self._readings.append(_Reading(list(tokens), states[-1][1], list(states[:-1])))
            self._forget()

    def missing(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` would have to be read."""
        return len(tokens) - max((in_common(one.tokens, tokens) for one in self._readings), default=0)

    def read(self, tokens: Sequence[int], cancel: Any) -> Any | None:
        """The state after `tokens`, at least one; None where cancelled, with what was read so far kept."""
        best = max(self._readings, key=lambda one: in_common(one.tokens, tokens), default=None)
        known, state, boundaries = self._restored(best, tokens)
        if best is not None and known == len(best.tokens):
            self._readings.remove(best)  # this one goes on
        elif known == 0:
            state = self._model.start()
        reading = _Reading(list(tokens[:known]), state, boundaries)
        self._readings.append(reading)
        while known < len(tokens) and not cancel.is_set():
            upto = min(len(tokens), (known // STRIDE + 1) * STRIDE)
            _, state = self._model.commit(list(tokens[known:upto]), reading.state, rows=slice(0, 0))
            if upto % BLOCK == 0 and not self._goes_back(state):
                reading.boundaries.append((upto, state))
            reading.tokens += tokens[known:upto]
            reading.state, known = state, upto
        self._forget()
        return reading.state if known == len(tokens) else None

    def _restored(self, best: _Reading | None, tokens: Sequence[int]) -> tuple[int, Any, list[tuple[int, Any]]]:
        """How many tokens are known, the state after them, and the boundaries before."""
        if best is None:
            return 0, None, []
        known = in_common(best.tokens, tokens)
        before = [(count, state) for count, state in best.boundaries if count <= known]
        if known == len(best.tokens):
            return known, best.state, before
        rewind = getattr(self._model, "rewind", None)
        if rewind is not None and known:
            try:
                return known, rewind(best.state, self._model.position(best.state) - len(best.tokens) + known), before
            except ValueError:
                pass
        return (*before[-1], before) if before else (0, None, [])

    def _goes_back(self, state: Any) -> bool:
        """Whether the model can take back the block that it just read."""
        rewind = getattr(self._model, "rewind", None)
        if rewind is None:
            return False
        try:
            rewind(state, self._model.position(state) - BLOCK)
        except ValueError:
            return False
        return True

    def _forget(self) -> None:
        while len(self) > self._limit and len(self._readings) > 1:
            self._readings.pop(0)

"""A model that writes a given text: how many passes drafts take when it is known what will be written.

Passes, states and drafts are those of the model itself, so a pass takes as long as it always does; only the choice of
the next token is given. Shape letters: T rows of a pass, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from model.protocol import Block
from model.sprig import Sprig, SprigForesight, SprigState


class Dictated:
    """Sprig, whose row for the token at each position of `text` (ids from the first that is read; behind them `end`)
    leaves no other choice."""

    def __init__(self, model: Sprig, text: Sequence[int], end: int) -> None:
        self._model = model
        self._text_T = torch.tensor([*text, end])
        self.vocabulary, self.device = model.vocabulary, model.device

    def start(self) -> SprigState:
        return self._model.start()

    def position(self, state: SprigState) -> int:
        return self._model.position(state)

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: SprigState, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, SprigState]:
        logits_TV, after = self._model.commit(tokens, state, rows=rows)
        asked = range(len(tokens))[slice(None) if rows is None else rows]
        return self._said(logits_TV, self.position(state) + 1 + asked.start), after

    def preview(self, block: Block, state: SprigState) -> torch.Tensor:
        return self._model.preview(block, state)

    def rewind(self, state: SprigState, position: int) -> SprigState:
        return self._model.rewind(state, position)

    def succeed(self, state: SprigState, token: int, width: int) -> list[int]:
        return self._model.succeed(state, token, width)

    def foresee(self, known: Sequence[int], width: int, state: SprigState) -> SprigForesight:
        found = self._model.foresee(known, width, state)
        return replace(found, logits_KV=self._said(found.logits_KV, self.position(state) + 1))

    def _said(self, logits_TV: torch.Tensor, first: int) -> torch.Tensor:
        """Rows about the positions from `first` on, each with its token of the text alone."""
        said_T = self._text_T[(first + torch.arange(len(logits_TV))).clamp_max(len(self._text_T) - 1)]
        return torch.full_like(logits_TV, -torch.inf).scatter_(1, said_T[:, None], 0.0)

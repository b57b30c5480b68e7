"""Stored keys and values of chunks of a text, spliced into a window whose continuation they resemble.

Retrieval into the attention itself, as in Memorizing Transformers (https://arxiv.org/abs/2203.08913), with whole chunks
and turned positions. Shape letters as in `model.llama`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch

from model.llama import LlamaModel, LlamaState, rotate
from model.window import Window

CHUNK, STRIDE, TAKEN, CONTEXT = 64, 32, 4, 128


class Chunks:
    """Overlapping chunks of a text. Similarity: the rare tokens that a chunk shares with the question, weighed by how
    rare they are. A chunk's keys and values are those after the 128 tokens before it; they are made when first asked
    for (a product would store them). `seconds` sums up what finding and splicing took, without the making."""

    def __init__(self, trunk: LlamaModel, read: np.ndarray) -> None:
        self.trunk, self.read = trunk, read
        self.starts = np.arange(0, max(len(read) - CHUNK, 1), STRIDE)
        pairs = np.unique(
            [(int(token), at) for at, start in enumerate(self.starts) for token in read[start : start + CHUNK]], axis=0
        )
        self.tokens, self.holders = pairs.T
        self.seconds = 0.0
        self._made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def like(self, question: Sequence[int]) -> list[int]:
        """The chunks most like the question, in reading order; neighbours that overlap a better one are left out."""
        score = np.zeros(len(self.starts))
        for token in set(question):
            low, high = np.searchsorted(self.tokens, [token, token + 1])
            if low < high:
                score[self.holders[low:high]] += np.log(len(self.starts) / (high - low))
        taken: list[int] = []
        for at in np.argsort(-score):
            if len(taken) == TAKEN or score[at] <= 0:
                break
            if all(abs(at - other) > 1 for other in taken):
                taken.append(int(at))
        return sorted(taken)

    def before(self, state: LlamaState, question: Sequence[int]) -> LlamaState:
        """The state with the chunks most like `question` between its first token and the rest, which moves up."""
        began = time.perf_counter()
        taken = self.like(question)
        self.seconds += time.perf_counter() - began
        stored = [self._stored(at) for at in taken]
        began = time.perf_counter()
        keys, values, room = [], [], 1
        for plain_LKTD, values_LKTD in stored:
            keys.append(rotate(plain_LKTD, self.trunk.turns_TD[room : room + plain_LKTD.shape[2]]))
            values.append(values_LKTD)
            room += plain_LKTD.shape[2]
        window = state.window
        moved = rotate(window.keys_LKTD[:, :, 1:], self.trunk.turns_TD[room - 1])
        longer = Window.of(
            torch.cat([window.keys_LKTD[:, :, :1], *keys, moved], 2),
            torch.cat([window.values_LKTD[:, :, :1], *values, window.values_LKTD[:, :, 1:]], 2),
        )
        self.seconds += time.perf_counter() - began
        return LlamaState(longer, state.position, state.recent_TE)

    def _stored(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys before rotary and values [L, K, T, D] of one chunk."""
        if at not in self._made:
            start = int(self.starts[at])
            first, end = max(0, start - CONTEXT), min(start + CHUNK, len(self.read))
            _, state = self.trunk.read(self.read[first:end].tolist(), self.trunk.start())
            text = slice(state.window.length - (end - start), state.window.length)
            plain = rotate(state.window.keys_LKTD[:, :, text], self.trunk.turns_TD[text].conj())
            self._made[at] = plain.clone(), state.window.values_LKTD[:, :, text].clone()
        return self._made[at]

"""Repositories as streams of segments: several packages are read side by side, each with its own carried memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

VISIT = 24  # segments of one package in a row, at most


@dataclass
class Stream:
    """One package being read. `memory` maps a memory layer to its state, carried from segment to segment."""

    ids: np.ndarray
    cursor: int
    left: int
    memory: dict[int, torch.Tensor] = field(default_factory=dict)


class Streams:
    """Hands out segments of `length` + 1 tokens, round robin over `width` streams.

    A stream reads up to `VISIT` segments in order from a random place of a random package (larger ones more often),
    then moves on with an empty memory.
    """

    def __init__(self, packages: Sequence[np.ndarray], length: int, seed: int, width: int = 8) -> None:
        self.packages = [ids for ids in packages if len(ids) > 2 * length]
        if not self.packages:
            raise ValueError(f"no package holds two segments of {length} tokens")
        self.length = length
        self.random = np.random.default_rng(seed)
        sizes = np.sqrt([len(ids) for ids in self.packages])
        self.share = sizes / sizes.sum()
        self.streams = [self._open() for _ in range(width)]
        self.turn = 0

    def _open(self) -> Stream:
        ids = self.packages[self.random.choice(len(self.packages), p=self.share)]
        start = int(self.random.integers(0, len(ids) - self.length - 1))
        return Stream(ids, start, int(self.random.integers(1, VISIT + 1)))

    def next(self) -> tuple[torch.Tensor, Stream]:
        """Token ids [length + 1] and the stream that they belong to."""
        self.turn = (self.turn + 1) % len(self.streams)
        stream = self.streams[self.turn]
        if stream.left == 0 or stream.cursor + self.length + 1 > len(stream.ids):
            stream = self.streams[self.turn] = self._open()
        piece = stream.ids[stream.cursor : stream.cursor + self.length + 1]
        stream.cursor += self.length
        stream.left -= 1
        return torch.from_numpy(piece.astype(np.int64)), stream

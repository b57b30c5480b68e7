"""A model that continues as a given text does: the longest end of what it read that occurs there says what follows."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import torch

from model.protocol import Block
from tests.model.toy import ByteTokenizer

VOCABULARY = ByteTokenizer.vocabulary


class Parrot:
    """Sure (0.9) where the last four bytes occur in `text`, uncertain elsewhere. `pause`: seconds that a pass takes.
    `passes` counts them."""

    device = torch.device("cpu")
    vocabulary = VOCABULARY

    def __init__(self, text: str, pause: float = 0.0) -> None:
        self._text = text.encode()
        self._pause = pause
        self.passes = 0
        self.read = 0

    def start(self) -> bytes:
        return b""

    def position(self, state: bytes) -> int:
        return len(state)

    def rewind(self, state: bytes, position: int) -> bytes:
        return state[:position]

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: bytes, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, bytes]:
        self.passes += 1
        self.read += len(tokens)
        time.sleep(self._pause)
        after = state + bytes(int(token) % 256 for token in tokens)
        places = range(len(state) + 1, len(after) + 1)[rows if rows is not None else slice(None)]
        logits = [self._row(after[:place]) for place in places]
        return (torch.stack(logits) if logits else torch.zeros(0, VOCABULARY)), after

    def preview(self, block: Block, state: bytes) -> torch.Tensor:
        return torch.zeros(len(block.tokens), VOCABULARY)

    def _row(self, read: bytes) -> torch.Tensor:
        for length in range(min(40, len(read)), 3, -1):
            at = self._text.find(read[-length:])
            if at >= 0:
                following = self._text[at + length : at + length + 1]
                return self._sure(following[0] if following else ByteTokenizer.end_id, 0.95)
        return self._sure(ord("?"), 0.1)

    def _sure(self, token: int, probability: float) -> torch.Tensor:
        p_V = torch.full((VOCABULARY,), (1 - probability) / (VOCABULARY - 1))
        p_V[token] = probability
        return p_V.log()


def never() -> Any:
    """A cancel flag that nobody raises."""
    return threading.Event()

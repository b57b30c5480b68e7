"""The contracts that every local model and every decoder share.

Shape letters: B sequences in a batch, T tokens of a pass, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import torch

State = TypeVar("State")


@dataclass(frozen=True)
class Block:
    """A block to preview: token ids, and which of them are still masks.

    `tokens` [T] int64; the value at a masked position is ignored. `masked` [T] bool.
    """

    tokens: torch.Tensor
    masked: torch.Tensor


class BlockModel(Protocol[State]):
    """A language model as decoders see it. A state is a value: no call changes the one it was given.

    Logits are aligned to the position that they predict: row t of `preview` speaks about block position t;
    row t of `commit` about the token that follows tokens[t]. What precedes the first token of a fresh state is the
    model's own affair (its begin token).
    """

    vocabulary: int
    device: torch.device

    def start(self) -> State:
        """The state before anything was read."""
        ...

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: State, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, State]:
        """One causal pass over known tokens. Returns logits [T', V] of the asked `rows` (all by default;
        `slice(-1, None)` for the last; `slice(0, 0)` for none) and a new state."""
        ...

    def preview(self, block: Block, state: State) -> torch.Tensor:
        """One pass over a block, bidirectional inside it. Logits [T, V], one row per block position. Changes nothing.

        Known rows get their logits too (what the model would have said there)."""
        ...

    def position(self, state: State) -> int:
        """How many tokens the state has read."""
        ...


@runtime_checkable
class Rewindable(Protocol[State]):
    """A BlockModel whose state can cheaply forget the last tokens it read."""

    def rewind(self, state: State, position: int) -> State:
        """The state as it was at an earlier position. Raises ValueError where that is no longer known."""
        ...


class Tokenizer(Protocol):
    """Text to ids and back. `decode(encode(text)) == text` for every str without lone surrogates.

    `end_id` ends a text. One that knows more such ids lists them all in an attribute `ends`."""

    vocabulary: int
    end_id: int

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and, for each, its half-open range of characters in `text`."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """The bytes that one id stands for."""
        ...

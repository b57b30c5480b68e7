"""Going on from the middle of what a stored state read last.

A state is stored at the end of a file, and a completion begins in the middle of it. Beside the state stand the ids of
the file, and, of a memory that cannot go back, what it was before them: the trunk's keys and values of the file are
still in the window, so the memory at any place within it follows from them without a pass of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from model.memory import MemoryState
from model.sprig_memory import StateFormat, TrunkFormat

_PIECE, _BEFORE, _BEGAN = "piece", "before.", "began"


def with_piece(memory: MemoryState, tokens: Sequence[int], before: MemoryState) -> MemoryState:
    """`memory`, with the ids that it read last and the fixed-size part of what it was `before` them."""
    extra = {_BEFORE + name: tensor for name, tensor in before.tensors.items()}
    extra |= {_PIECE: torch.tensor(list(tokens), dtype=torch.int32), _BEGAN: torch.tensor(before.position)}
    return replace(memory, tensors={**memory.tensors, **extra})


def whole(memory: MemoryState) -> MemoryState:
    """The state alone, without what stands beside it."""
    beside = (_PIECE, _BEGAN)
    own = {name: t for name, t in memory.tensors.items() if name not in beside and not name.startswith(_BEFORE)}
    return replace(memory, tensors=own)


def piece_of(memory: MemoryState) -> list[int]:
    """The ids that it read last; empty where they were not kept."""
    tokens = memory.tensors.get(_PIECE)
    return [] if tokens is None else tokens.tolist()


def within(form: StateFormat, memory: MemoryState, count: int) -> Any:
    """The model's state after the first `count` (at least one) of the ids that it read last.

    Raises ValueError where the model cannot go back that far and its window no longer holds those ids."""
    tokens = piece_of(memory)
    if not 0 < count <= len(tokens):
        raise ValueError(f"{count} is not among the {len(tokens)} ids that were kept")
    if count == len(tokens):
        return form.unpack(whole(memory))
    if not isinstance(form, TrunkFormat):
        raise ValueError("this model's memory cannot go back")
    before = {name.removeprefix(_BEFORE): t for name, t in memory.tensors.items() if name.startswith(_BEFORE)}
    began = int(memory.tensors[_BEGAN])
    return form.between(before, began, whole(memory), len(tokens) - count, tokens[count - 1])

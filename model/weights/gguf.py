"""Reads GGUF files: metadata, and tensors dequantised to fp32 from a memory map.

The format and the block layouts are those of ggml (https://github.com/ggml-org/ggml, `docs/gguf.md` and
`src/ggml-common.h`).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True)
class _Kind:
    """One storage type: how many weights a block holds, its bytes, and how to read [N, bytes] into [N, weights]."""

    name: str
    weights: int
    size: int
    dequantise: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class _Entry:
    shape: tuple[int, ...]
    kind: _Kind
    offset: int


def _half(blocks: np.ndarray, at: int) -> np.ndarray:
    return blocks[:, at : at + 2].copy().view(np.float16).astype(np.float32)


def _nibbles(packed: np.ndarray) -> np.ndarray:
    """[N, 16] bytes -> [N, 32]: all the low halves, then all the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)


def _q4_0(blocks: np.ndarray) -> np.ndarray:
    return (_nibbles(blocks[:, 2:]) - 8) * _half(blocks, 0)


def _q4_1(blocks: np.ndarray) -> np.ndarray:
    return _nibbles(blocks[:, 4:]) * _half(blocks, 0) + _half(blocks, 2)


def _q8_0(blocks: np.ndarray) -> np.ndarray:
    return blocks[:, 2:].view(np.int8).astype(np.float32) * _half(blocks, 0)


def _q6_k(blocks: np.ndarray) -> np.ndarray:
    """256 weights: 4 low bits, 2 high bits, an int8 scale for every 16, one half-precision scale for all."""
    count = len(blocks)
    low = blocks[:, :128].reshape(count, 2, 2, 32)  # half, which 32 bytes of the half, byte
    high = blocks[:, 128:192].reshape(count, 2, 1, 32)
    scales = blocks[:, 192:208].view(np.int8).astype(np.float32)
    low = np.concatenate([low & 15, low >> 4], axis=2)  # [count, half, quarter, 32]
    high = (high >> np.array([0, 2, 4, 6], dtype=np.uint8).reshape(1, 1, 4, 1)) & 3
    levels = (low | (high << 4)).astype(np.float32) - 32
    return (levels.reshape(count, 16, 16) * scales[:, :, None]).reshape(count, 256) * _half(blocks, 208)


_KINDS = {
    0: _Kind("F32", 1, 4, lambda raw: raw.view(np.float32)),
    1: _Kind("F16", 1, 2, lambda raw: raw.view(np.float16).astype(np.float32)),
    2: _Kind("Q4_0", 32, 18, _q4_0),
    3: _Kind("Q4_1", 32, 20, _q4_1),
    8: _Kind("Q8_0", 32, 34, _q8_0),
    14: _Kind("Q6_K", 256, 210, _q6_k),
}


class GGUF:
    """An open GGUF file. `metadata` maps keys to Python values; `tensor(name)` gives fp32 in torch's order of axes.

    Raises ValueError where the file is not GGUF version 2 or 3, is cut off, or stores a tensor in an unsupported type.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        try:
            self._read_header()
        except struct.error as error:
            raise ValueError(f"{path} is cut off: delete it and fetch it again") from error

    def _read_header(self) -> None:
        if self._map[:4] != b"GGUF":
            raise ValueError(f"{self._path} is not a GGUF file")
        self._at = 4
        version = self._scalar("I")
        if version not in (2, 3):
            raise ValueError(f"{self._path} is GGUF version {version}; versions 2 and 3 can be read")
        tensors, entries = self._scalar("Q"), self._scalar("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._string()
            self.metadata[key] = self._value(self._scalar("I"))
        self._entries = {}
        for _ in range(tensors):
            name = self._string()
            # ggml counts axes from the fastest, torch from the slowest
            shape = tuple(reversed([self._scalar("Q") for _ in range(self._scalar("I"))]))
            kind, offset = self._scalar("I"), self._scalar("Q")
            if kind not in _KINDS:
                raise ValueError(f"{self._path}: tensor {name} has storage type {kind}, which cannot be read")
            self._entries[name] = _Entry(shape, _KINDS[kind], offset)
        alignment = self.metadata.get("general.alignment", 32)
        self._data = -(-self._at // alignment) * alignment

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self._map, self._at)
        self._at += struct.calcsize("<" + code)
        return value

    def _string(self) -> str:
        size = self._scalar("Q")
        self._at += size
        return self._map[self._at - size : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            kind, count = self._scalar("I"), self._scalar("Q")
            return [self._value(kind) for _ in range(count)]
        if kind not in _SCALARS:
            raise ValueError(f"{self._path}: unknown metadata type {kind}")
        return self._scalar(_SCALARS[kind])

    def names(self) -> list[str]:
        return list(self._entries)

    def storage(self, name: str) -> str:
        """The storage type of a tensor, e.g. "Q4_1"."""
        return self._entries[name].kind.name

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def tensor(self, name: str) -> torch.Tensor:
        """A fresh fp32 copy of a tensor, rows first ([out, in] for a projection). Raises KeyError, ValueError."""
        entry = self._entries[name]
        blocks = prod(entry.shape) // entry.kind.weights
        start = self._data + entry.offset
        if start + blocks * entry.kind.size > len(self._map):
            raise ValueError(f"{self._path} is cut off within {name}: delete it and fetch it again")
        raw = np.frombuffer(self._map, dtype=np.uint8, count=blocks * entry.kind.size, offset=start)
        values = entry.kind.dequantise(raw.reshape(blocks, entry.kind.size))
        return torch.from_numpy(np.array(values, dtype=np.float32).reshape(entry.shape))

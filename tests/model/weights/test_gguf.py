from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from model.weights.gguf import GGUF


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _write(path: Path, kind: int, shape: tuple[int, ...], data: bytes, version: int = 3) -> Path:
    header = b"GGUF" + struct.pack("<IQQ", version, 1, 2)
    header += _text("answer") + struct.pack("<II", 4, 42)
    header += _text("words") + struct.pack("<IIQ", 9, 8, 2) + _text("né") + _text("")
    header += _text("w") + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
    header += struct.pack("<IQ", kind, 0)
    path.write_bytes(header + b"\0" * (-len(header) % 32) + data)
    return path


def _nibbles(levels: np.ndarray) -> bytes:
    return bytes((levels[:16] | (levels[16:] << 4)).astype(np.uint8))


def _half(value: float) -> bytes:
    return struct.pack("<e", value)


def _q6_k(levels: np.ndarray, scales: np.ndarray, scale: float) -> bytes:
    """ggml's order, weight by weight: quarter q of a half has its low bits in byte 32·(q % 2) + i of that half's 64."""
    low, high = np.zeros(128, np.uint8), np.zeros(64, np.uint8)
    for index, level in enumerate(levels + 32):
        half, quarter, i = index // 128, index % 128 // 32, index % 32
        low[64 * half + 32 * (quarter % 2) + i] |= (level & 15) << (4 * (quarter // 2))
        high[32 * half + i] |= (level >> 4) << (2 * quarter)
    return bytes(low) + bytes(high) + bytes(scales.astype(np.int8)) + _half(scale)


_LEVELS = np.random.default_rng(0).integers(0, 16, 32)
_WIDE = np.random.default_rng(1).integers(-127, 128, 32)
_SIX = np.random.default_rng(2).integers(-32, 32, 256)
_SCALES = np.random.default_rng(3).integers(-20, 20, 16)
_FLOATS = np.linspace(-2, 2, 32).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (0, _FLOATS.tobytes(), _FLOATS),
        (1, _FLOATS.astype(np.float16).tobytes(), _FLOATS.astype(np.float16)),
        (2, _half(0.5) + _nibbles(_LEVELS), (_LEVELS - 8) * 0.5),
        (3, _half(0.5) + _half(-1.25) + _nibbles(_LEVELS), _LEVELS * 0.5 - 1.25),
        (8, _half(0.25) + _WIDE.astype(np.int8).tobytes(), _WIDE * 0.25),
        (14, _q6_k(_SIX, _SCALES, 0.125), _SIX * np.repeat(_SCALES, 16) * 0.125),
    ],
    ids=["F32", "F16", "Q4_0", "Q4_1", "Q8_0", "Q6_K"],
)
def test_tensors_are_dequantised(tmp_path: Path, kind: int, data: bytes, expected: np.ndarray) -> None:
    shape = (len(expected) // 16, 16)
    file = GGUF(_write(tmp_path / "m.gguf", kind, shape, data))
    assert file.metadata == {"answer": 42, "words": ["né", ""]}
    assert file.names() == ["w"] and "w" in file
    wanted = torch.from_numpy(np.asarray(expected, np.float32)).view(shape)
    assert torch.equal(file.tensor("w"), wanted)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(ValueError, match="not a GGUF file"):
        GGUF(path)
    with pytest.raises(ValueError, match="version 1"):
        GGUF(_write(path, 0, (32,), _FLOATS.tobytes(), version=1))
    with pytest.raises(ValueError, match="storage type 12"):
        GGUF(_write(path, 12, (32,), b""))
    whole = _write(path, 0, (32,), _FLOATS.tobytes()).read_bytes()
    path.write_bytes(whole[:60])
    with pytest.raises(ValueError, match="cut off"):
        GGUF(path)
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="cut off within w"):
        GGUF(path).tensor("w")

"""A folder of safetensors shards, memory-mapped: a tensor takes memory when it is looked at, and no sooner."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

_INDEX = "model.safetensors.index.json"
_SAMPLES, _SAMPLE = 64, 4096


class CheckpointError(ValueError):
    """A folder is no checkpoint, or is incomplete or damaged. The message says what is missing."""


class Checkpoint:
    """Tensors by name. `rename` maps the files' names to the caller's; None leaves a tensor out."""

    def __init__(self, folder: Path, rename: Callable[[str], str | None] = lambda name: name) -> None:
        self.folder = folder
        try:
            self.config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        except FileNotFoundError:
            raise CheckpointError(f"{folder} has no config.json: not a model folder") from None
        except ValueError as error:
            raise CheckpointError(f"{folder / 'config.json'} is no JSON: {error}") from None
        self._shards = {path: _open(path) for path in _shards(folder)}
        self._places: dict[str, tuple[Path, str]] = {}
        for path, shard in self._shards.items():
            for stored in shard.keys():  # noqa: SIM118
                name = rename(stored)
                if name is not None:
                    self._places[name] = (path, stored)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def names(self) -> list[str]:
        return sorted(self._places)

    def tensor(self, name: str) -> torch.Tensor:
        """The tensor as stored, over the mapped file: no copy. Raises CheckpointError where it is missing."""
        if name not in self._places:
            raise CheckpointError(f"{self.folder} has no tensor {name}: of another architecture, or incomplete")
        path, stored = self._places[name]
        return self._shards[path].get_tensor(stored)

    def find(self, name: str) -> torch.Tensor | None:
        return self.tensor(name) if name in self else None

    def fingerprint(self) -> str:
        """A name for these weights: SHA-256 over config, headers, sizes and evenly spaced samples of every shard.

        Reading 35B parameters whole would take minutes; fine-tunes differ nearly everywhere, so samples tell them
        apart.
        """
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for path in self._shards:
            size = path.stat().st_size
            with path.open("rb") as handle:
                header = int.from_bytes(handle.read(8), "little")
                digest.update(f"{path.name} {size}".encode() + handle.read(header))
                for i in range(_SAMPLES):
                    handle.seek(8 + header + (size - 8 - header) * i // _SAMPLES)
                    digest.update(handle.read(_SAMPLE))
        return digest.hexdigest()[:32]


def _shards(folder: Path) -> list[Path]:
    index = folder / _INDEX
    if index.exists():
        try:
            names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CheckpointError(f"{index} is no index of shards: fetch it again") from None
        missing = [name for name in names if not (folder / name).exists()]
        if missing:
            raise CheckpointError(f"{folder} lacks {len(missing)} of {len(names)} shards, first {missing[0]}")
        return [folder / name for name in names]
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        raise CheckpointError(f"{folder} has no safetensors file")
    return found


def _open(path: Path) -> Any:
    try:
        return safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is damaged or cut off ({error}): fetch it again") from None


def write_index(folder: Path, places: dict[str, str]) -> None:
    """The index of a folder whose tensors stand in the shards that `places` names."""
    (folder / _INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}, indent=1))

"""Saved states on disk, found again by what was read: (model id, content hashes in reading order).

An unchanged prefix of the reading order is never read twice, and one changed file costs only what comes after it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import torch

from model.memory import MemoryState, StateFileError, read_header

_log = logging.getLogger(__name__)
_SUFFIX = ".state.safetensors"
_NOTE = "note."  # keeps a caller's notes apart from the format's own words
_ABANDONED = 3600  # seconds after which a half-written file is taken for the leaving of a crash


@dataclass(frozen=True)
class StoredState:
    """One line of a listing. `pieces` counts the hashes read, `used` is when it was last written or read (epoch),
    `notes` is whatever was stored beside."""

    path: Path
    model_id: str
    position: int
    pieces: int
    bytes: int
    used: float
    notes: Mapping[str, str] = field(default_factory=dict)


class MemoryStore:
    """A folder of states within a budget of bytes; the least recently used go first.

    A cache: a damaged or foreign file is reported in the log, deleted and treated as absent. Several processes may
    share the folder, since files appear and vanish whole.
    """

    def __init__(self, directory: Path, budget_bytes: int) -> None:
        self.directory = directory
        self.budget_bytes = budget_bytes

    def longest_prefix(
        self, model_id: str, hashes: Sequence[str], device: torch.device | str = "cpu"
    ) -> tuple[MemoryState | None, int]:
        """The stored state that read the longest prefix of `hashes`, and how many of them; (None, 0) where none did."""
        keys = list(_keys(model_id, hashes))
        for count in range(len(hashes), 0, -1):
            path = self._path(keys[count - 1])
            try:
                state = MemoryState.load(path, model_id, device)
            except FileNotFoundError:
                continue
            except StateFileError as error:
                _log.warning("%s; deleted, it will be read again", error)
                with suppress(OSError):  # another user's, or on a disk that cannot be written: left alone
                    path.unlink(missing_ok=True)
                continue
            with suppress(OSError):
                os.utime(path)
            return state, count
        return None, 0

    def holds(self, model_id: str, hashes: Sequence[str]) -> int:
        """How many of `hashes` the longest stored prefix has; nothing is loaded."""
        keys = list(_keys(model_id, hashes))
        return next((count for count in range(len(keys), 0, -1) if self._path(keys[count - 1]).exists()), 0)

    def notes(self, model_id: str, hashes: Sequence[str]) -> dict[str, str]:
        """What was stored beside the state that read exactly `hashes`; empty where there is none."""
        try:
            return _notes(read_header(self._path(list(_keys(model_id, hashes))[-1])))
        except (StateFileError, FileNotFoundError):
            return {}

    def put(self, hashes: Sequence[str], state: MemoryState, notes: Mapping[str, str] | None = None) -> bool:
        """Stores the state that has read exactly `hashes` (at least one), then evicts down to the budget.

        False, with the reason in the log, where it cannot be written or is larger than the whole budget."""
        if state.fixed_bytes + state.window_bytes > self.budget_bytes:
            _log.warning("a memory of %d bytes exceeds the budget of %d", state.fixed_bytes, self.budget_bytes)
            return False
        path = self._path(list(_keys(state.model_id, hashes))[-1])
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            state.save(
                path, {**{_NOTE + name: text for name, text in (notes or {}).items()}, "pieces": str(len(hashes))}
            )
            self._evict()
        except OSError as error:
            _log.warning("the memory could not be kept: %s", error)
            return False
        return True

    def entries(self) -> list[StoredState]:
        """What is stored, most recently used first. Unreadable files are left out."""
        found = []
        for path in self.directory.glob(f"*{_SUFFIX}"):
            try:
                header, status = read_header(path), path.stat()
            except (StateFileError, FileNotFoundError):
                continue
            found.append(
                StoredState(
                    path=path,
                    model_id=header["model_id"],
                    position=int(header["position"]),
                    pieces=int(header.get("pieces", 0)),
                    bytes=status.st_size,
                    used=status.st_mtime,
                    notes=_notes(header),
                )
            )
        return sorted(found, key=lambda entry: entry.used, reverse=True)

    def clear(self) -> int:
        """Deletes everything stored; returns the bytes that this freed."""
        freed = 0
        for path, size, _ in self._files():
            path.unlink(missing_ok=True)
            freed += size
        return freed

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"

    def _files(self) -> list[tuple[Path, int, float]]:
        found = []
        for path in self.directory.glob(f"*{_SUFFIX}"):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            found.append((path, status.st_size, status.st_mtime))
        return sorted(found, key=lambda file: file[2])

    def _evict(self) -> None:
        for partial in self.directory.glob("*.partial"):
            try:
                if time.time() - partial.stat().st_mtime > _ABANDONED:
                    partial.unlink()
            except FileNotFoundError:
                continue
        files = self._files()
        total = sum(size for _, size, _ in files)
        for path, size, _ in files[:-1]:
            if total <= self.budget_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size


def _notes(header: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(_NOTE): text for name, text in header.items() if name.startswith(_NOTE)}


def _keys(model_id: str, hashes: Sequence[str]) -> Iterator[str]:
    """For each prefix of `hashes` a name that depends on all of it and on the model."""
    digest = hashlib.sha256(f"{len(model_id)}:{model_id}".encode())
    for item in hashes:
        digest.update(f"{len(item)}:{item}".encode())
        yield digest.hexdigest()

"""Tokens of files on disk, by the hash of the file: the next start of the server encodes only what changed.

They can be turned back into the text, so the folder is the user's alone (mode 0700), like the journal.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

MOST_FILES = 30_000


class TokensKept:
    """One file for each workspace and tokenizer, read at the first look. Whatever cannot be read counts as absent."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.npz"
        self._used: dict[str, Sequence[int]] = {}

    def get(self, key: str) -> Sequence[int] | None:
        tokens = self._old.get(key)
        if tokens is not None:
            self._used[key] = tokens
        return tokens

    def put(self, key: str, tokens: Sequence[int]) -> None:
        if len(self._used) < MOST_FILES:
            self._used[key] = tokens

    def save(self) -> None:
        """Writes what was used since the start; the rest is forgotten. A full disk costs time, no more."""
        import numpy as np

        if self._used.keys() == self._old.keys():
            return
        keys = list(self._used)
        sizes = np.asarray([len(self._used[key]) for key in keys], np.int64)
        parts = [np.asarray(self._used[key], np.int32) for key in keys]
        tokens = np.concatenate([np.zeros(0, np.int32), *parts])
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=self._path.parent, suffix=".partial", delete=False) as file:
                partial = Path(file.name)
                try:
                    np.savez(file, keys=np.asarray(keys), sizes=sizes, tokens=tokens)
                    file.flush()
                    os.replace(partial, self._path)
                finally:
                    partial.unlink(missing_ok=True)

    @cached_property
    def _old(self) -> dict[str, Sequence[int]]:
        if not self._path.exists():
            return {}
        import numpy as np

        try:
            with np.load(self._path, allow_pickle=False) as kept:
                ends = np.cumsum(kept["sizes"])
                return dict(zip(kept["keys"].tolist(), np.split(kept["tokens"], ends[:-1])))
        except Exception:  # numpy and zipfile tell of a torn file in many ways
            return {}

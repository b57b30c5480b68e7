"""The files of a project that can be repaired, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from coder.patch import decode, sha256


def repairable(names: Sequence[str], any_language: bool) -> list[str]:
    """Those that can be repaired: Python, and with a test command of its own all other languages that are known."""
    if not any_language:
        return [name for name in names if name.endswith(".py")]
    from coder.repair.files import understood

    return [name for name in names if understood(name)]


def read_sources(root: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Text and sha256 of each of the files under `root`; those that are not text are left out."""
    texts, hashes = {}, {}
    for name in names:
        with suppress(OSError, UnicodeDecodeError, SyntaxError):
            data = (root / name).read_bytes()
            texts[name] = decode(data).text
            hashes[name] = sha256(data)
    return texts, hashes

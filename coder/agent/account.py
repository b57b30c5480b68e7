"""What a command in the jail says that it changed (`inside` writes it), taken apart.

Only its shape is checked here, and that it is whole and within bounds: whatever a command can write may stand in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from sandbox.contract import MIB

MOST_FILES = 5_000
MOST_BYTES = 128 * MIB
_LINE = 16 << 10

Record = tuple[str, str, bytes, bool, str]


def drain(descriptor: int, most: int = MOST_BYTES) -> bytes:
    """Everything up to the end; b"" when that is more than `most` bytes."""
    data = bytearray()
    while piece := os.read(descriptor, 1 << 20):
        data += piece
        if len(data) > most:
            return b""
    return bytes(data)


def records(account: bytes) -> Iterator[Record]:
    """(kind, path, data, executable, what it is) of each record. Raises ValueError where the account is not whole."""
    at = 0
    while True:
        end = account.find(b"\n", at, at + _LINE)
        if end < 0:
            raise ValueError("it changed too much, or its changes could not be read")
        try:
            fields = json.loads(account[at:end])
            kind, size = fields["kind"], fields["size"]
            path, what = fields.get("path", ""), str(fields.get("what", ""))[:100]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ValueError("its changes could not be read") from None
        if not (isinstance(size, int) and 0 <= size <= len(account) - end - 1 and isinstance(path, str)):
            raise ValueError("its changes could not be read")
        data, at = account[end + 1 : end + 1 + size], end + 1 + size
        if kind == "end":
            return
        if kind == "many":
            raise ValueError(f"it changed more than {MOST_FILES:,} files")
        yield str(kind), path, data, fields.get("executable") is True, what

"""Runs in the jail: a command, and then an account of what it changed in the tree, written to a descriptor.

`python -I -S inside.py DESCRIPTOR FILES COMMAND…`. The account is a list of records, each a line of JSON and as many
bytes as it says: a file that is new or not what it was, a path that is gone, something that is no regular file, and at
the end a line that says so. Nobody outside trusts it: whatever can write the tree can write this.

Imports only what the standard library has: nothing else of this project is here.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

SKIPPED = frozenset({"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
NOT_FOUND = 127


def main() -> int:
    out, most = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(out, False)
    root = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    before = dict(_walk(""))
    status = _execute(sys.argv[3:])
    os.fchdir(root)
    with open(out, "wb", buffering=1 << 16) as account:
        _report(account, before, dict(_walk("")), most)
    return status


def _execute(command: list[str]) -> int:
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _walk(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(folder or "."))
    except OSError:
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield path, status
        elif entry.name not in SKIPPED:
            yield from _walk(path)


def _report(account: BinaryIO, before: dict[str, os.stat_result], after: dict[str, os.stat_result], most: int) -> None:
    def record(data: bytes = b"", **fields: object) -> None:
        account.write(json.dumps({**fields, "size": len(data)}).encode() + b"\n" + data)

    changed = [
        path for path, status in after.items() if path not in before or _version(status) != _version(before[path])
    ]
    if len(changed) > most:
        record(kind="many", count=len(changed))
        changed = []
    for path in sorted(before.keys() - after.keys()):
        record(kind="gone", path=path)
    for path in sorted(changed):
        if stat.S_ISREG(after[path].st_mode):
            try:
                with open(path, "rb") as source:
                    record(source.read(), kind="file", path=path, executable=bool(after[path].st_mode & 0o111))
            except OSError as error:
                record(kind="other", path=path, what=f"cannot be read: {error.strerror}")
        else:
            record(
                kind="other",
                path=path,
                what="a symbolic link" if stat.S_ISLNK(after[path].st_mode) else "no regular file",
            )
    record(kind="end")


def _version(status: os.stat_result) -> tuple[int, ...]:
    """Differs after every write and every change of mode: programs can set other times, not that of the last change."""
    return status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode


if __name__ == "__main__":
    sys.exit(main() % 256)

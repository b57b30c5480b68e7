"""Where the journal is kept: entries that never change, and one index that changes in single renames.

<state>/journal/<name>-<hash of the real path>/
    root            the project's real path
    lock            held while the tree is being changed
    index.json      {"next": 3, "pending": null, "done": ["000001"], "undone": ["000002"]}
    000001/         entry.json and the bytes of both sides of each file, by their hash
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coder.atomic import System, replace_file, sync_folder, write_new
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Change, Version, sha256


@dataclass(frozen=True)
class Index:
    """What was done and undone, latest last; `pending` names an entry whose tree may be half changed."""

    next: int = 1
    pending: dict[str, Any] | None = None
    done: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """An entry as it is stored: `folders` did not exist before it. `time` in seconds since 1970."""

    note: str
    time: float
    changes: tuple[Change, ...]
    folders: tuple[str, ...]


class Ledger:
    """The journal folder of one project. Its methods raise OSError, and Failure for files that nobody can make sense
    of."""

    def __init__(self, root: Path, state: Path, system: System) -> None:
        self.root = root
        self.system = system
        self.folder = state / "journal" / f"{root.name or 'root'}-{sha256(os.fsencode(root))[:16]}"

    def create(self) -> None:
        """Makes the folder, for the user alone, with the path of the project in it."""
        private_folder(self.folder.parent.parent)
        private_folder(self.folder.parent)
        private_folder(self.folder)
        if not (self.folder / "root").exists():
            replace_file(self.system, self.folder / "root", os.fsencode(self.root))

    def lock(self, wait: float) -> AbstractContextManager[None]:
        """Held by one process at a time. Raises BlockingIOError after `wait` seconds."""
        return locked(self.folder / "lock", wait)

    def load(self) -> Index:
        """The index; a fresh one where nothing was stored yet."""
        try:
            with self._readable():
                stored = json.loads((self.folder / "index.json").read_text("utf-8"))
                return Index(stored["next"], stored["pending"], tuple(stored["done"]), tuple(stored["undone"]))
        except FileNotFoundError:
            return Index()

    def save(self, index: Index) -> None:
        replace_file(self.system, self.folder / "index.json", json.dumps(asdict(index)).encode())

    def add(self, entry: str, record: Record) -> None:
        """Stores an entry under another name first, so that an entry that can be seen is whole."""
        partial = self.folder / f"{entry}.partial"
        self.forget([partial.name, entry])
        self.system.mkdir(str(partial), 0o700)
        sides = {side.hash: side for change in record.changes for side in (change.before, change.after) if side}
        for name, side in sides.items():
            write_new(self.system, str(partial / name), side.data, 0o600)
        files = [
            {"path": change.path, "before": _reference(change.before), "after": _reference(change.after)}
            for change in record.changes
        ]
        stored = {"note": record.note, "time": record.time, "files": files, "folders": record.folders}
        write_new(self.system, str(partial / "entry.json"), json.dumps(stored, indent=1).encode(), 0o600)
        sync_folder(self.system, partial)
        self.system.replace(str(partial), str(self.folder / entry))
        sync_folder(self.system, self.folder)

    def read(self, entry: str) -> Record:
        """An entry with both sides of its files."""
        folder = self.folder / entry

        def version(reference: dict[str, Any] | None) -> Version | None:
            if reference is None:
                return None
            return Version((folder / reference["sha256"]).read_bytes(), reference["mode"])

        with self._readable():
            stored = json.loads((folder / "entry.json").read_text("utf-8"))
            changes = [
                Change(file["path"], version(file["before"]), version(file["after"])) for file in stored["files"]
            ]
            return Record(stored["note"], stored["time"], tuple(changes), tuple(stored["folders"]))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, KeyError, TypeError):
            raise Failure(
                ExitStatus.INTERNAL_ERROR,
                f"the journal in {self.folder} is damaged",
                "Move that folder away; what it holds can then no longer be undone.",
            ) from None

    def forget(self, entries: Sequence[str]) -> None:
        for entry in entries:
            shutil.rmtree(self.folder / entry, ignore_errors=True)

    @property
    def written(self) -> float:
        """When the index was written last, or else the folder made; in seconds since 1970."""
        index = self.folder / "index.json"
        return (index if index.exists() else self.folder / "root").stat().st_mtime

    def drop(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def locked(path: Path, wait: float = 0.0) -> Iterator[None]:
    """The file at `path`, made where there is none, held by one process at a time. Raises BlockingIOError after `wait`
    seconds."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.05)
        yield
    finally:
        os.close(fd)


def private_folder(folder: Path) -> None:
    """Makes `folder` and sees to it that only its owner can look in."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def _reference(version: Version | None) -> dict[str, Any] | None:
    return None if version is None else {"sha256": version.hash, "mode": version.mode}

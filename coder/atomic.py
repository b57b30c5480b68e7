"""Writing that is wholly done or wholly not: system calls that tests can break, durable files, transitions of a tree.

A transition stages every new file beside the old one, flushed, before it renames the first; a full disk is thus met
while nothing has changed yet. Bringing a tree to either side is idempotent: it looks at what is there and does what is
left to do, so that it also repairs what an earlier, killed run began.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from coder.failure import Conflict
from coder.patch import Change, Version

if TYPE_CHECKING:
    from coder.repository.gate import PathGate


_IN_USE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)  # something else was put there since: the folder stays


class System:
    """The system calls that reading and writing use. A test replaces them by ones that fail at a chosen call."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    read = staticmethod(os.read)
    write = staticmethod(os.write)
    fsync = staticmethod(os.fsync)
    fstat = staticmethod(os.fstat)
    stat = staticmethod(os.stat)
    fchmod = staticmethod(os.fchmod)
    fchown = staticmethod(os.fchown)
    replace = staticmethod(os.replace)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)


def write_new(
    system: System, name: str, data: bytes, mode: int, folder: int | None = None, owner: tuple[int, int] | None = None
) -> None:
    """Creates `name` with `data`, flushed to the disk. Raises FileExistsError when it is there already.

    It is given to `owner` (user id, group id) where the system lets us.
    """
    fd = system.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[system.write(fd, view) :]
        if owner is not None and owner != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                system.fchown(fd, *owner)
        system.fchmod(fd, mode)
        system.fsync(fd)
    finally:
        system.close(fd)


def sync_folder(system: System, folder: str | Path) -> None:
    """Makes what was created, renamed or deleted in a folder outlast a power cut. Raises OSError."""
    fd = system.open(str(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        system.fsync(fd)
    finally:
        system.close(fd)


def replace_file(system: System, path: Path, data: bytes, mode: int = 0o600) -> None:
    """Puts `data` at `path` in one step: after a crash the file is wholly the old one or wholly the new one."""
    temporary = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        system.unlink(str(temporary))
    write_new(system, str(temporary), data, mode)
    system.replace(str(temporary), str(path))
    sync_folder(system, path.parent)


class Transition:
    """A tree's way between the two sides of `changes`. `tag` names the temporary files; `folders` exist on the far
    side only, shallow ones first."""

    def __init__(self, gate: PathGate, changes: Sequence[Change], folders: Sequence[str], tag: str) -> None:
        self.gate = gate
        self.system = gate.system
        self.changes = changes
        self.folders = folders
        self.tag = tag

    def differing(self, forward: bool) -> list[str]:
        """The paths that are not as on the side that a move in this direction starts from."""
        return [change.path for change in self.changes if self.gate.current(change.path) != _sides(change, forward)[0]]

    def arrived(self, forward: bool) -> bool:
        """Whether every file is as on the far side (or, backward, the near one)."""
        return all(self._current(change.path) == _sides(change, forward)[1] for change in self.changes)

    def bring(self, forward: bool) -> list[str]:
        """Brings the tree to the far side (or back). Returns the paths that are on neither side: they are left alone.

        Raises OSError; then, and after a kill at any moment, bringing it to either side again is safe.
        """
        if forward:
            self._make_folders()
        foreign, moves = [], []
        for index, change in enumerate(self.changes):
            source, target = _sides(change, forward)
            now = self._current(change.path)
            self._stage(index, change.path, target if now == source else None, source)
            if now == source:
                moves.append((index, change.path, source, target))
            elif now != target:
                foreign.append(change.path)
        for index, path, source, target in moves:
            self._move(index, path, source, target)
        if not forward:
            self._remove_folders()
        return foreign

    def _current(self, path: str) -> Version | None:
        try:
            return self.gate.current(path)
        except Conflict:
            return Version(b"", -1)  # something that may not be replaced: equal to no side

    def _temporary(self, index: int) -> str:
        return f".coder-{self.tag}-{index}"

    def _stage(self, index: int, path: str, target: Version | None, source: Version | None) -> None:
        """Removes what an earlier run left; then writes the new version, if one is wanted, beside the old one."""
        try:
            with self.gate.parent(path) as (folder, name):
                with suppress(FileNotFoundError):
                    self.system.unlink(self._temporary(index), dir_fd=folder)
                if target is not None:
                    owner = self._owner(folder, None if source is None else name)
                    write_new(self.system, self._temporary(index), target.data, target.mode, folder, owner)
        except FileNotFoundError:
            if target is not None:
                raise

    def _owner(self, folder: int, name: str | None) -> tuple[int, int]:
        """Whose the file is, or, for a file that is not there yet, whose the folder is."""
        if name is None:
            status = self.system.fstat(folder)
        else:
            status = self.system.stat(name, dir_fd=folder, follow_symlinks=False)
        return status.st_uid, status.st_gid

    def _move(self, index: int, path: str, source: Version | None, target: Version | None) -> None:
        with self.gate.parent(path) as (folder, name):
            try:
                now = self.gate.read_at(folder, name, path, writing=True)
            except FileNotFoundError:
                now = None
            if now != source:
                raise Conflict(f"{path} changed while it was being written", "Run the command again.")
            if target is None:
                self.system.unlink(name, dir_fd=folder)
            else:
                self.system.replace(self._temporary(index), name, src_dir_fd=folder, dst_dir_fd=folder)
            self.system.fsync(folder)

    def _make_folders(self) -> None:
        for path in self.folders:
            with self.gate.parent(path) as (folder, name), suppress(FileExistsError):
                self.system.mkdir(name, 0o777, dir_fd=folder)
                self.system.fsync(folder)

    def _remove_folders(self) -> None:
        for path in reversed(self.folders):
            with suppress(FileNotFoundError, Conflict), self.gate.parent(path) as (folder, name):
                try:
                    self.system.rmdir(name, dir_fd=folder)
                except OSError as error:
                    if error.errno not in _IN_USE:
                        raise


def _sides(change: Change, forward: bool) -> tuple[Version | None, Version | None]:
    return (change.before, change.after) if forward else (change.after, change.before)

"""Where a task works: a copy of the project that its edits and its commands change, and what that comes to in the end.

A command runs in the jail on a copy of the copy. What it changed comes back as an account that is checked here path by
path: regular files under plain relative names, within bounds; nothing else of it is believed or kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from coder.agent import inside
from coder.agent.account import MOST_FILES, drain, records
from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure, from_os_error
from coder.patch import Change, Version
from coder.repository import Repository
from coder.repository.gate import PathGate, Refused, parts
from sandbox import policy
from sandbox.contract import Completed, Ending, Limits, SandboxUnavailable
from sandbox.job import interpreter
from sandbox.working_copy import BadPath, WorkingCopy

if TYPE_CHECKING:
    from sandbox.jail import Sandbox

_SCRIPT = Path(inside.__file__).resolve()


@dataclass(frozen=True)
class Ran:
    """A command that ran. `kept` are the paths that it changed; `refused` maps what was not kept to the reason."""

    completed: Completed
    kept: tuple[str, ...]
    refused: dict[str, str]


@dataclass(frozen=True)
class Harvest:
    """What a task comes to. `left_out` maps paths that changed and are not handed over to the reason; `lost` are those
    of them that the project has, or that took the place of what it has: without them the changes are but a part."""

    changes: tuple[Change, ...]
    left_out: dict[str, str]
    lost: tuple[str, ...] = ()


class Workspace:
    """The copy. `version` grows with every change of it. A context manager that removes it.

    Raises Refused for paths that may not be touched, FileNotFoundError for those that are not there.
    """

    def __init__(
        self, repository: Repository, sandbox: Sandbox, python: Path, limits: Limits, keeps: bool = True
    ) -> None:
        """`keeps`: whether what is changed stays; else the task may look and try, and nothing more."""
        self.repository, self.sandbox, self.python, self.limits, self.keeps = repository, sandbox, python, limits, keeps
        self._own = frozenset(repository.files)
        try:
            self.tree = WorkingCopy.of(repository.root, repository.runtime_files)
            self.original = self.tree.fork()
        except OSError as error:
            raise from_os_error(error, "copy the project") from error
        self._gate, self._old = PathGate(self.tree.root), PathGate(self.original.root)
        self.version = 0

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *exception: object) -> None:
        self.tree.close()
        self.original.close()

    # -- files ---------------------------------------------------------------------------------------------------------

    def read(self, path: str) -> Version:
        self.check(path)
        return self._gate.read(path)

    def check(self, path: str) -> None:
        """Raises Refused for a path that is not the project's, or that an ignore or secret rule hides."""
        parts(path)
        if path not in self._own and self.repository.rules.hidden(path):
            raise Refused(path, "an ignore or secret rule hides it")

    def write(self, path: str, data: bytes) -> None:
        """Writes into the copy, with the right to execute as it was. Raises Refused."""
        self.check(path)
        if not self.keeps:
            raise Refused(path, "this task may only read")
        executable = False
        with suppress(FileNotFoundError, NotADirectoryError):
            executable = bool(self._gate.read(path).mode & 0o111)
        self._put(path, data, executable)
        self.version += 1

    def files(self, folder: str = "") -> Iterator[str]:
        """Files under `folder` that may be read and whose names can be told, in order."""
        if folder:
            parts(folder)
        for path in sorted(_regular(self.tree.root, folder)):
            if path in self._own or (path.isprintable() and not self.repository.rules.hidden(path)):
                yield path

    # -- commands ------------------------------------------------------------------------------------------------------

    def run(self, argv: Sequence[str], seconds: float) -> Ran:
        """Runs `argv` in the jail; keeps what it changed unless it was ended by a limit. Raises Failure."""
        receiver, sender = os.pipe()
        environment = {"CI": "1", "PATH": policy.environment([self.python.parent], "/tmp", {})["PATH"]}
        command = [interpreter(), "-I", "-S", str(_SCRIPT), str(sender), str(MOST_FILES), *argv]
        limits = replace(self.limits, wall_s=min(seconds, self.limits.wall_s))
        shown = [_SCRIPT, *policy.interpreter_paths(self.python)]
        try:
            jailed = self.sandbox.spawn(command, self.tree, limits, environment, shown, pass_fds=(sender,))
        except SandboxUnavailable as error:
            os.close(receiver)
            raise Failure(ExitStatus.NO_SANDBOX, str(error)) from error
        except BaseException:
            os.close(receiver)
            raise
        finally:
            os.close(sender)
        with jailed:
            try:
                account = drain(receiver)
            finally:
                os.close(receiver)
            completed = replace(jailed.wait(), argv=tuple(argv))
        kept, refused = self._take(account, completed)
        return Ran(completed, kept, refused)

    def _take(self, account: bytes, completed: Completed) -> tuple[tuple[str, ...], dict[str, str]]:
        """All of an account, or nothing where it is not whole."""
        if completed.ending is not Ending.EXITED:
            return (), {"everything": f"it was ended by the {completed.ending.value}"}
        try:
            changed = list(records(account))
        except ValueError as wrong:
            return (), {"everything": str(wrong)}
        kept, refused = [], {}
        for kind, path, data, executable, what in changed:
            try:
                parts(path)
                if not path.isprintable():
                    raise Refused(path, "its name cannot be shown")
                if kind == "other":
                    raise Refused(path, what)
                if not self.keeps:
                    raise Refused(path, "this task may only read")
                if kind == "gone":
                    self._gate.read(path)
                    self._remove(path)
                elif not self._same(path, data, executable):
                    self._put(path, data, executable)
                else:
                    continue
                kept.append(path)
            except (Refused, OSError) as error:
                refused[ascii(path)[1:-1]] = str(error).partition(": ")[2] or str(error)
        self.version += bool(kept)
        return tuple(kept), refused

    # -- the end -------------------------------------------------------------------------------------------------------

    def changed(self) -> dict[str, Version | None]:
        """Every path of the copy whose file is not what it was, with what it is now; None where it is gone."""
        now, before = set(_regular(self.tree.root)), set(_regular(self.original.root))
        found: dict[str, Version | None] = dict.fromkeys(before - now)
        for path in now:
            if path not in before or not os.path.samefile(self.tree.root / path, self.original.root / path):
                version = self._gate.read(path)
                if path not in before or version != self._old.read(path):
                    found[path] = version
        return dict(sorted(found.items()))

    def base(self, path: str) -> Version | None:
        """What was at `path` when the task began."""
        try:
            return self._old.read(path)
        except (FileNotFoundError, Refused):
            return None

    def restore(self, files: dict[str, Version | None]) -> None:
        """Brings the copy to where an earlier part of the task left it."""
        # What is gone first: a folder may stand where a file was, or a file where a folder was.
        for path, version in sorted(files.items(), key=lambda file: file[1] is not None):
            if version is None:
                self._remove(path)
            else:
                self._put(path, version.data, bool(version.mode & 0o111))
        self.version += 1

    def harvest(self) -> Harvest:
        """The changes of the user's files that the copy amounts to, against these files as they are now.

        Raises Conflict where one of them was changed since the task began.
        """
        changes, left_out, edited = [], {}, []
        for path, version in self.changed().items():
            try:
                self.check(path)
                before = self.repository.gate.current(path)
            except Conflict as refused:
                left_out[path] = refused.message.partition(": ")[2]
                continue
            base = self.base(path)
            if (before and before.data) != (base and base.data):
                edited.append(path)
            elif version is None or before is None:
                changes.append(Change(path, before, version))
            else:
                after = Version(version.data, _mode(before.mode, bool(version.mode & 0o111)))
                if after != before:
                    changes.append(Change(path, before, after))
        if edited:
            hint = "Nothing was written. The task is kept: `coder tasks show` has its diff."
            raise Conflict(f"changed since the task began: {', '.join(edited)}", hint)
        return Harvest(tuple(changes), left_out, tuple(path for path in left_out if self._is_own(path)))

    def result(self, changes: Sequence[Change]) -> WorkingCopy:
        """The project as it will be with `changes` and nothing else that the task did. Whoever asks closes it."""
        tree = self.original.fork()
        try:
            for change in changes:
                if change.after is None:
                    tree.remove(change.path)
            for change in changes:
                if change.after is not None:
                    tree.write(change.path, change.after.data)
                    (tree.root / change.path).chmod(0o755 if change.after.mode & 0o111 else 0o644)
        except BaseException:
            tree.close()
            raise
        return tree

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _is_own(self, path: str) -> bool:
        """Whether the project has a file at `path`, or has one above it or below it."""
        above = {parent.as_posix() for parent in PurePosixPath(path).parents}
        below = any(own.startswith(f"{path}/") for own in self._own)
        return path in self._own or below or not above.isdisjoint(self._own)

    def _put(self, path: str, data: bytes, executable: bool) -> None:
        try:
            self.tree.write(path, data)
        except BadPath:
            raise Refused(path, "it leads through a symbolic link") from None
        # A new file each time: the one that `original` shares keeps its mode.
        (self.tree.root / path).chmod(0o755 if executable else 0o644)

    def _remove(self, path: str) -> None:
        with self._gate.parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
        for parent in (self.tree.root / path).parents:
            if parent == self.tree.root or any(parent.iterdir()):
                break
            parent.rmdir()

    def _same(self, path: str, data: bytes, executable: bool) -> bool:
        try:
            version = self._gate.read(path)
        except (FileNotFoundError, Refused):
            return False
        return version.data == data and bool(version.mode & 0o111) == executable


def _mode(mode: int, executable: bool) -> int:
    """`mode` with the right to execute added where there is a right to read, or taken away; else as it was."""
    if executable == bool(mode & 0o111):
        return mode
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


def _regular(root: Path, folder: str = "") -> Iterator[str]:
    """Regular files below `folder`; no link is followed."""
    try:
        entries = list(os.scandir(root / folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _regular(root, path)
        elif entry.is_file(follow_symlinks=False):
            yield path

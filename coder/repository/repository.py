"""A project as the rest of the program sees it: its files, what may be read of them, its git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Document, Version, decode
from coder.repository.gate import PathGate, Refused
from coder.repository.git import Git
from coder.repository.ignore import SKIPPED, IgnoreRules

MANY_FILES = 20_000
"""From here on, a copy takes long enough to tell the user why."""
TOO_MANY_FILES = 150_000

_NEEDED = (".py", ".pyi", ".so", ".pyd")
"""Built or generated files that git ignores and the tests import all the same."""


class Repository:
    """The project at `root`: the folder where its tests are run from. It need not be a git repository."""

    def __init__(self, root: Path) -> None:
        self.gate = PathGate(root)
        self.root = self.gate.root
        self.rules = IgnoreRules(self.gate)

    @classmethod
    def open(cls, path: Path) -> Repository:
        """Raises Failure when `path` is no folder, or one that holds more than any project should."""
        if not path.is_dir():
            what = "is a file, not a folder" if path.exists() else "does not exist"
            raise Failure(
                ExitStatus.USAGE,
                f"{path} {what}",
                "Name the folder that you run the tests from; --test names tests in it.",
            )
        repository = cls(path)
        if repository.root in (Path("/"), Path.home()) and not (repository.root / "pyproject.toml").exists():
            raise Failure(ExitStatus.USAGE, f"{repository.root} is not a project", "Go to your project's folder first.")
        return repository

    @cached_property
    def git(self) -> Git | None:
        return Git.open(self.root)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The project's own regular files, posix paths in order: neither ignored nor secret. Only these are ever read,
        shown to a model or changed. Raises Failure when there are too many."""
        return self._listing[0]

    @cached_property
    def runtime_files(self) -> tuple[str, ...]:
        """What the tests are given: `files`, those whose names cannot be printed, symbolic links, and generated modules
        that git ignores. No secrets."""
        return self._listing[1]

    def read(self, path: str) -> Version:
        """Raises Refused when the file is hidden or not a regular file of the project, FileNotFoundError for none."""
        if self.rules.hidden(path) and path not in self.files:
            raise Refused(path, "an ignore or secret rule hides it")
        return self.gate.read(path)

    def document(self, path: str) -> Document:
        """As `read`, decoded. Raises also UnicodeDecodeError, or SyntaxError for an unknown coding line."""
        return decode(self.read(path).data)

    @cached_property
    def _listing(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        tracked = frozenset(self.git.tracked()) if self.git else frozenset()
        own: list[str] = []
        runtime: list[str] = []
        for path, entry, ignored in self._walk("", False):
            visible = not ignored or path in tracked
            # A name that cannot be printed cannot be shown, asked about or sent: it is for the tests alone.
            if visible and path.isprintable() and not entry.is_symlink():
                own.append(path)
            if visible or path.endswith(_NEEDED) or ".egg-info/" in path:
                runtime.append(path)
            if len(runtime) > TOO_MANY_FILES:
                raise Failure(
                    ExitStatus.USAGE,
                    f"{self.root} holds more than {TOO_MANY_FILES:,} files",
                    "Name folders that the tests do not need in a .coderignore file, or run coder in a smaller folder.",
                )
        return tuple(sorted(own)), tuple(sorted(runtime))

    def _walk(self, folder: str, ignored: bool) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
        """(path, entry, whether git ignores it) of every file and link that is not concealed."""
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except PermissionError:
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if self.rules.concealed(path, entry.is_dir(follow_symlinks=False)):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name in SKIPPED or os.path.lexists(os.path.join(entry.path, "pyvenv.cfg")):
                    continue
                yield from self._walk(path, ignored or self.rules.ignored(path, True))
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield path, entry, ignored or self.rules.ignored(path)

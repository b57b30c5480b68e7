"""The user's files as the trials see them: a copy within bounds, with folders, permissions and times.

Nothing is in it that a `.coderignore` names or whose name says that it is secret. The project's own files come first:
where the bounds are met, environments, caches and what git ignores are missing, and what lies deepest.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from coder.repository.gate import PathGate
from coder.repository.ignore import SKIPPED, IgnoreRules

if TYPE_CHECKING:
    from sandbox.working_copy import WorkingCopy

_FILES, _BYTES = 5_000, 64 << 20
_SEEN = 100_000  # entries of folders: the bound of the search where what is found is too large to be copied


@dataclass(frozen=True)
class Tree:
    """`files` and `modes` by relative path; `modes` are those of files and folders. `whole`: nothing was left out;
    `cut`: something was that no rule hides, because of the bounds or because it cannot be read."""

    root: Path
    files: tuple[str, ...]
    modes: dict[str, tuple[int, int]]
    whole: bool
    cut: bool = False

    @classmethod
    def read(cls, root: Path) -> Tree:
        """Names and times only. `.git`, what is hidden or cannot be read, and what is beyond 5,000 files or 64 MiB are
        left out."""
        reader = _Reader(root)
        own, foreign = deque([""]), deque[str]()
        while own or foreign:
            for path in reader.look_into((own or foreign).popleft()):
                (foreign if reader.is_foreign(path) else own).append(path)
        return cls(root, tuple(reader.files), reader.modes, not (reader.hidden or reader.cut), reader.cut)

    @property
    def names(self) -> frozenset[str]:
        """Names and paths of everything, and the root's own name."""
        found = {part for path in (*self.files, *self.modes) for part in (path, path.rsplit("/", 1)[-1])}
        return frozenset(found | {self.root.name})

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(self.modes).difference(self.files)

    @cached_property
    def links(self) -> frozenset[str]:
        return frozenset(self.files).difference(self.modes)

    def copy(self) -> WorkingCopy:
        """Raises OSError, BadPath."""
        from sandbox.working_copy import WorkingCopy

        return WorkingCopy.of(self.root, self.files)


class _Reader:
    """Collects files and modes of one folder after another. `hidden`, `cut`: whether it met what it leaves out."""

    def __init__(self, root: Path) -> None:
        self.root, self.rules = root, IgnoreRules(PathGate(root))
        self.files: list[str] = []
        self.modes: dict[str, tuple[int, int]] = {}
        self.hidden = self.cut = False
        self._bytes = self._seen = 0

    def look_into(self, folder: str) -> list[str]:
        """Takes what `folder` holds, and returns its folders."""
        inner = []
        for entry in self._entries(folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.casefold() == ".git":
                continue
            if len(self.files) >= _FILES or self._seen >= _SEEN:
                self.cut = True
                break
            self._seen += 1
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # gone, or in a folder that may be listed and no more
                continue
            is_folder, is_link = stat.S_ISDIR(status.st_mode), stat.S_ISLNK(status.st_mode)
            if self.rules.concealed(path, is_folder) or not (is_folder or is_link or stat.S_ISREG(status.st_mode)):
                self.hidden = True
                continue
            if not (is_link or _readable(entry.path, status.st_mode, is_folder)):
                self.cut = True
                continue
            if is_folder:
                inner.append(path)
            elif self._bytes + status.st_size > _BYTES:
                self.cut = True
                continue
            else:
                self._bytes += status.st_size
                self.files.append(path)
            if not is_link:
                self.modes[path] = (stat.S_IMODE(status.st_mode) & 0o1777, status.st_mtime_ns)
        return inner

    def is_foreign(self, folder: str) -> bool:
        """Whether it holds no source of the project: an environment, a cache, what git ignores."""
        venv = self.root / folder / "pyvenv.cfg"
        return folder.rsplit("/", 1)[-1] in SKIPPED or os.path.lexists(venv) or self.rules.ignored(folder, True)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self.cut = True
            return []


def _readable(path: str, mode: int, is_folder: bool) -> bool:
    """Whether we may read it, and also its owner: inside, the copy belongs to whoever runs there."""
    needed = stat.S_IRUSR | (stat.S_IXUSR if is_folder else 0)
    return mode & needed == needed and os.access(path, os.R_OK | (os.X_OK if is_folder else 0))

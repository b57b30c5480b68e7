"""The user's files as the trials see them: a copy within bounds, with folders, permissions and times; no secrets."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coder.repository.secrets import is_secret

if TYPE_CHECKING:
    from sandbox.working_copy import WorkingCopy

_FILES, _BYTES = 5_000, 64 << 20


@dataclass(frozen=True)
class Tree:
    """`files` and `modes` by relative path; `modes` are those of files and folders. `whole`: nothing was left out."""

    root: Path
    files: tuple[str, ...]
    modes: dict[str, tuple[int, int]]
    whole: bool

    @classmethod
    def read(cls, root: Path) -> Tree:
        """Names and times only. Secrets, `.git`, and what is beyond 5,000 files or 64 MiB are left out."""
        files: list[str] = []
        modes: dict[str, tuple[int, int]] = {}
        whole, size = True, 0
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in [*folders, *sorted(names)]:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, root)
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                if is_secret(relative):
                    whole = False
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    size += status.st_size
                    if len(files) >= _FILES or size > _BYTES:
                        return cls(root, tuple(files), modes, False)
                    files.append(relative)
                if not stat.S_ISLNK(status.st_mode):
                    modes[relative] = (stat.S_IMODE(status.st_mode) & 0o1777, status.st_mtime_ns)
        return cls(root, tuple(files), modes, whole)

    @property
    def names(self) -> frozenset[str]:
        """Names and paths of everything, and the root's own name."""
        found = {part for path in (*self.files, *self.modes) for part in (path, path.rsplit("/", 1)[-1])}
        return frozenset(found | {self.root.name})

    def copy(self) -> WorkingCopy:
        """Raises OSError, BadPath."""
        from sandbox.working_copy import WorkingCopy

        return WorkingCopy.of(self.root, self.files)

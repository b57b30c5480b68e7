"""The one path gate: every reader and writer of a user's files comes through here.

A path is walked component by component from the root with O_NOFOLLOW, each opened relative to the one before, so that
no symbolic link is followed, not even one that is planted between the check and the use.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coder.atomic import System
from coder.failure import Conflict
from coder.patch import Version

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Refused(Conflict):
    """A path that may not be touched."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"refused {path!r}: {reason}")
        self.path, self.reason = path, reason


class PathGate:
    """Opens what lies under `root`, and nothing else. `root` itself may be reached through links: resolved once."""

    def __init__(self, root: Path, system: System | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self.system = system or System()

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that holds `path`, and the last component.

        Raises Refused, or FileNotFoundError when a folder on the way does not exist.
        """
        *folders, name = parts(path)
        system = self.system
        fd = system.open(str(self.root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                try:
                    inner = system.open(folder, _FOLDER, dir_fd=fd)
                except OSError as error:
                    if error.errno in (errno.ELOOP, errno.ENOTDIR):
                        raise Refused(path, f"{folder!r} is a symbolic link or not a folder") from None
                    raise
                with suppress(OSError):
                    system.close(fd)
                fd = inner
            yield fd, name
        finally:
            with suppress(OSError):
                system.close(fd)

    def read(self, path: str) -> Version:
        """Raises Refused for anything but a regular file, FileNotFoundError when there is none."""
        with self.parent(path) as (folder, name):
            return self.read_at(folder, name, path)

    def current(self, path: str) -> Version | None:
        """What is there now, None for nothing; raises Refused for what a writer may not replace."""
        try:
            with self.parent(path) as (folder, name):
                return self.read_at(folder, name, path, writing=True)
        except FileNotFoundError:
            return None

    def read_at(self, folder: int, name: str, path: str, writing: bool = False) -> Version:
        """As `read`, from an opened folder. A writer is also refused a file with several hard links."""
        system = self.system
        try:
            fd = system.open(name, _FILE, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise Refused(path, "it is a symbolic link or not a regular file") from None
            raise
        try:
            status = system.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise Refused(path, "it is not a regular file")
            if writing and status.st_nlink > 1:
                raise Refused(path, "it has several hard links, and replacing it would break them")
            chunks = []
            while chunk := system.read(fd, 1 << 20):
                chunks.append(chunk)
            return Version(b"".join(chunks), stat.S_IMODE(status.st_mode) & 0o777)
        finally:
            with suppress(OSError):
                system.close(fd)


def parts(path: str) -> tuple[str, ...]:
    """The components of a relative posix path. Raises Refused for any other kind, and for anything in `.git`."""
    components = tuple(path.split("/"))
    if not path or path.startswith("/") or "\0" in path:
        raise Refused(path, "it is not a path relative to the project")
    if any(component in ("", ".", "..") for component in components):
        raise Refused(path, "it is not a plain path relative to the project")
    if any(_is_git(component) for component in components):
        raise Refused(path, "git's own files are never touched")
    return components


def _is_git(component: str) -> bool:
    """Whether some file system takes this name for `.git`: any case, NTFS's trailing dots and short names, HFS's
    invisible characters."""
    visible = "".join(char for char in component if unicodedata.category(char) != "Cf")
    name = visible.casefold().split(":")[0].rstrip(". ")
    return name in (".git", "git~1")

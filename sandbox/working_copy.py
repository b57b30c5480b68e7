"""A copy of chosen files of a repository: what a jail is given instead of the user's tree.

The copy outside is pristine: no run ever writes to it. Each run starts from its own copy of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

INSIDE = Path("/jail/tree")
"""Where the tree is inside a jail with namespaces. Without them see `Jailed.tree`; everywhere it is the current
directory at the start."""

PREFIX = "coder-"
LOCK = "in-use"


class BadPath(ValueError):
    """The path leads out of the tree, into `.git`, or through a symbolic link."""


class WorkingCopy:
    """A directory of ordinary files and symbolic links, without `.git`.

    A context manager that removes it; one that nobody closes is removed with the object, at the latest at exit, and one
    whose process was killed, when the next copy is made.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self._lock = _locked(base)
        self.root = base / "pristine"
        self.root.mkdir(exist_ok=True)
        self.root.chmod(0o755)
        self.close = weakref.finalize(self, _remove, base, self._lock)
        """Remove the copy. May be called again."""

    @classmethod
    def of(cls, root: Path | str, files: Iterable[str]) -> WorkingCopy:
        """Copy `files`, paths relative to `root`. Symbolic links stay links; `.git`, sockets, pipes and devices and
        files that have vanished are left out. Raises BadPath for paths that leave `root`, OSError when out of space.
        """
        _sweep(Path(tempfile.gettempdir()))
        copy = cls(Path(tempfile.mkdtemp(prefix=PREFIX)))
        try:
            known: set[PurePosixPath] = {PurePosixPath()}
            for name in files:
                relative = _checked(name)
                if relative is not None:
                    copy._add(Path(root), relative, known)
        except BaseException:
            copy.close()
            raise
        return copy

    def write(self, path: str, content: str | bytes) -> None:
        """Put `content` at `path`, a new file in place of what was there. Raises BadPath, OSError."""
        relative = _checked(path)
        if relative is None:
            raise BadPath(f"{path} is inside .git")
        target = self.root / relative
        for parent in reversed(relative.parents):
            if (self.root / parent).is_symlink():
                raise BadPath(f"{path} leads through a symbolic link")
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o755 if target.is_file() and not target.is_symlink() and os.access(target, os.X_OK) else 0o644
        # A new file, never a write into the old one: forks share their files as hard links.
        handle, fresh = tempfile.mkstemp(dir=self.base)
        with os.fdopen(handle, "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
        os.chmod(fresh, mode)
        os.replace(fresh, target)

    def remove(self, path: str) -> None:
        """Remove a file. Raises BadPath, OSError."""
        relative = _checked(path)
        if relative is None or any((self.root / parent).is_symlink() for parent in relative.parents):
            raise BadPath(path)
        (self.root / relative).unlink()

    def fork(self) -> WorkingCopy:
        """A second copy, independent of this one, that shares the bytes of the files until one of them is written."""
        twin = WorkingCopy(Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.base.parent)))
        try:
            shutil.copytree(self.root, twin.root, symlinks=True, copy_function=os.link, dirs_exist_ok=True)
        except BaseException:
            twin.close()
            raise
        return twin

    def __enter__(self) -> WorkingCopy:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _add(self, source: Path, relative: PurePosixPath, known: set[PurePosixPath]) -> None:
        origin, target = source / relative, self.root / relative
        if relative.parent not in known:
            for parent in relative.parents:
                if (source / parent).is_symlink() and parent != PurePosixPath():
                    raise BadPath(f"{relative} leads through the symbolic link {parent}")
            target.parent.mkdir(parents=True, exist_ok=True)
            known.add(relative.parent)
        try:
            status = origin.lstat()
        except FileNotFoundError:
            return
        if stat.S_ISLNK(status.st_mode):
            target.symlink_to(os.readlink(origin))
        elif stat.S_ISREG(status.st_mode):
            shutil.copyfile(origin, target, follow_symlinks=False)
            # Readable to whatever uid the jail drops to; no set-user-id bits.
            os.chmod(target, 0o755 if status.st_mode & 0o111 else 0o644)
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _remove(base: Path, lock: int) -> None:
    shutil.rmtree(base, ignore_errors=True)
    os.close(lock)


def _locked(base: Path) -> int:
    """A descriptor that holds the copy's lock for as long as its process lives."""
    descriptor = os.open(base / f"{LOCK}.new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.rename(base / f"{LOCK}.new", base / LOCK)  # nobody finds it before it is held
    return descriptor


def _sweep(folder: Path) -> None:
    """Remove our own copies there whose process is gone: nobody holds their lock."""
    for lock in folder.glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):
            if lock.parent.is_symlink() or lock.parent.stat().st_uid != os.getuid():
                continue
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(descriptor)


def _checked(name: str) -> PurePosixPath | None:
    """The path as a safe relative path; None inside `.git`."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise BadPath(f"{name!r} is not a path inside the tree")
    return None if any(part.casefold() == ".git" for part in path.parts) else path

"""Landlock: a process gives up, for itself and all that it starts, every path that is not listed. See landlock(7).

Imports little, and of the standard library only, so that it also loads as a plain file inside the jail.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def restrict(read: Iterable[str], write: Iterable[str], network: bool = False) -> None:
    """Leave the calling thread with `read` (list, read, execute) and `write` (everything), files or directories.

    Paths that do not exist are passed over. Signals and abstract sockets reach only processes of the same domain
    or of domains inside it (ABI 6); without `network` no TCP port can be bound or connected (ABI 4).
    What an older kernel does not know is left open: callers that rely on it check `abi()` first. Raises OSError.
    """
    version = abi()
    if not version:
        raise OSError(38, "this kernel has no Landlock")
    rights = (1 << 13) - 1
    rights |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0) | (_IOCTL_DEV if version >= 5 else 0)
    tcp = _TCP if version >= 4 and not network else 0
    attributes = struct.pack("=QQQ", rights, tcp, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _call(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    try:
        for paths, granted in ((read, _READ), (write, rights)):
            for path in paths:
                _grant(ruleset, path, granted & rights)
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _ON_FILES
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result

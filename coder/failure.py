"""What a command could not do, said once for people and once as an exit status."""

from __future__ import annotations

import errno

from coder.exit_status import ExitStatus


class Failure(Exception):
    """Ends a command. `message` says what is so, `hint` what to do next; both are plain text."""

    def __init__(self, status: ExitStatus, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint


class Conflict(Failure):
    """Files are not what a change expects them to be, or may not be changed at all."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(ExitStatus.CONFLICT, message, hint)


_DISK = {
    errno.ENOSPC: ("the disk is full", "Free some space and run the command again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and run the command again."),
    errno.EROFS: ("the disk is read-only", "Make it writable, or copy the project to a place that is."),
    errno.EACCES: ("permission denied", "Check who owns the file and its folder."),
    errno.EPERM: ("permission denied", "Check who owns the file and its folder."),
}


def from_os_error(error: OSError, doing: str) -> Failure:
    """The failure that an error of the operating system means while `doing` ("write a.py")."""
    reason, hint = _DISK.get(error.errno or 0, (error.strerror or str(error), ""))
    place = f" ({error.filename})" if isinstance(error.filename, str) else ""
    return Failure(ExitStatus.INTERNAL_ERROR, f"could not {doing}: {reason}{place}", hint)


def unexpected(error: Exception) -> Failure:
    """The failure that any other error means: the machine refused, or this program has a bug."""
    if isinstance(error, OSError):
        return from_os_error(error, "do that")
    message = f"this is a bug in coder: {error!r}"
    return Failure(ExitStatus.INTERNAL_ERROR, message, "Please report the lines above.")

"""What a command changed on the copy, as a diff for people."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Iterator
from pathlib import Path

from coder.shell.trial import Change, Outcome


def diff(outcome: Outcome, root: Path) -> str:
    """Unified for text; one line each for what has none: modes, links, folders, bytes. `root`: how it was before."""
    return "".join(piece for change in outcome.changes for piece in _one(change, root / change.path))


def _one(change: Change, before: Path) -> Iterator[str]:
    try:
        status = before.lstat()
    except OSError:
        status = None
    old = _text(before.read_bytes()) if status and stat.S_ISREG(status.st_mode) else ("" if status is None else None)
    if change.gone and (status is None or not stat.S_ISREG(status.st_mode)):
        yield f"removed {change.path}\n"
    elif stat.S_ISDIR(change.mode) and status is None:
        yield f"new folder {change.path}\n"
    elif change.link is not None:
        yield f"link {change.path} -> {change.link}\n"
    if status and not change.gone and change.link is None and stat.S_IMODE(status.st_mode) != stat.S_IMODE(change.mode):
        yield f"mode of {change.path}: {stat.S_IMODE(status.st_mode):o} -> {stat.S_IMODE(change.mode):o}\n"
    if change.link is not None or stat.S_ISDIR(change.mode):
        return
    new = "" if change.gone else None if change.content is None else _text(change.content)
    if old is None or new is None:
        if not change.gone or status is None or stat.S_ISREG(status.st_mode):
            yield f"{'removed' if change.gone else 'new content of' if status else 'new file'} {change.path}\n"
        return
    names = ("/dev/null" if status is None else f"a/{change.path}", "/dev/null" if change.gone else f"b/{change.path}")
    yield from difflib.unified_diff(old.splitlines(True), new.splitlines(True), *names)
    if not old and not new and (status is None) != change.gone:
        yield f"{'removed' if change.gone else 'new file'} {change.path} (empty)\n"


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None

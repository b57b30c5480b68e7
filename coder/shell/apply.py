"""What a command did on the copy, as changes of the user's files: the journal makes them, and can take them back.

The journal knows regular files. What else a command did (folders, links, special permissions) cannot be taken back, so
then nothing of it is done.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from coder import patch
from coder.failure import Conflict
from coder.repository.gate import PathGate, parts
from coder.repository.ignore import IgnoreRules
from coder.shell.tree import Tree
from coder.shell.trial import Change, Outcome


class CannotApply(Exception):
    """The message says why, as the end of "not applied, because …"."""


def planned(outcome: Outcome, tree: Tree) -> list[patch.Change]:
    """Against the user's files as they are now; at least one.

    Raises CannotApply, and Conflict where a file is not what the copy was made of or may not be replaced.
    """
    if outcome.returncode != 0:
        raise CannotApply("the command failed on the copy")
    if not outcome.complete:
        raise CannotApply("it changes too many files")
    if tree.cut:
        raise CannotApply("the copy held only part of the files")
    files = [one for one in outcome.changes if not _is_folder(one, tree)]
    made = {folder for one in files if not one.gone for folder in _above(one.path)}
    for one in outcome.changes:
        if _is_folder(one, tree):
            _check_folder(one, tree, made)
    gate = PathGate(tree.root)
    rules = IgnoreRules(gate)
    changes = [patch.Change(one.path, _before(one.path, tree, gate), _after(one, rules)) for one in files]
    changes = [one for one in changes if one.before != one.after]
    if not changes:
        raise CannotApply("it changes nothing but times")
    return changes


def _is_folder(change: Change, tree: Tree) -> bool:
    return change.path in tree.folders if change.gone else change.link is None and stat.S_ISDIR(change.mode)


def _check_folder(change: Change, tree: Tree, made: set[str]) -> None:
    """A new folder comes with the files in it; nothing else of a folder can be changed."""
    if change.gone:
        raise CannotApply(f"it removes the folder {change.path}")
    if change.path in tree.folders:
        raise CannotApply(f"it changes the permissions of the folder {change.path}")
    if change.path in tree.modes or change.path in tree.links:
        raise CannotApply(f"it makes a folder of the file {change.path}")
    if change.path not in made:
        raise CannotApply(f"it makes the empty folder {change.path}")


def _before(path: str, tree: Tree, gate: PathGate) -> patch.Version | None:
    """What is there now, which must be what was copied."""
    if path in tree.links:
        raise CannotApply(f"{path} is a symbolic link")
    before = gate.current(path)
    known = tree.modes.get(path)
    if before is None or known is None:
        same = before is None and known is None
    else:
        same = (before.mode, os.lstat(tree.root / path).st_mtime_ns) == (known[0] & 0o777, known[1])
    if not same:
        raise Conflict(f"changed since it was copied: {path}", "Nothing was written. Run the command again.")
    return before


def _after(change: Change, rules: IgnoreRules) -> patch.Version | None:
    if change.gone:
        return None
    if change.link is not None or not stat.S_ISREG(change.mode):
        raise CannotApply(f"it makes {change.path}, which is no regular file")
    if change.content is None:
        raise CannotApply(f"{change.path} is too large")
    mode = stat.S_IMODE(change.mode)
    if mode & ~0o777:
        raise CannotApply(f"it gives {change.path} special permissions")
    parts(change.path)
    if rules.concealed(change.path) or any(rules.concealed(folder, True) for folder in _above(change.path)):
        raise CannotApply(f"an ignore or secret rule hides {change.path}")
    return patch.Version(change.content, mode)


def _above(path: str) -> Iterator[str]:
    """The folders that `path` lies in, innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path

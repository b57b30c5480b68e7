"""Every change of a user's files goes through the journal: applied wholly or not at all, undone and redone at will.

It lives outside the project, in the user's state folder, and needs no git. Before the first file is touched, both sides
of the change are on the disk and the index names the change as pending. While it does, the tree may be half changed:
whoever comes next brings it back, or, if all of it is there, calls it done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from coder.atomic import System, Transition
from coder.failure import Conflict, Failure, from_os_error
from coder.ledger import Index, Ledger, Record
from coder.patch import Change
from coder.repository.gate import PathGate, parts
from coder.repository.git import work_tree

KEPT = 200  # entries; older ones can no longer be undone
_LOCK_SECONDS = 10.0
_ABANDONED_SECONDS = 30 * 86_400.0  # a project on a drive that is only not there today keeps its journal


@dataclass(frozen=True)
class Entry:
    """One change of the tree, as `coder log` shows it. `state` is "done" or "undone"; `time` in seconds since 1970."""

    id: str
    time: float
    note: str
    paths: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class Recovery:
    """What became of an interrupted change: finished or rolled back. Files edited since (`foreign`) were left alone."""

    root: Path
    entry: str
    finished: bool
    foreign: tuple[str, ...]

    def __str__(self) -> str:
        what = "was finished" if self.finished else "was rolled back"
        kept = f"; left alone, because edited since: {', '.join(self.foreign)}" if self.foreign else ""
        return f"an interrupted change of {self.root} {what}{kept}"


class Journal:
    """The journal of the project at `root`, kept under `state`. All methods raise Failure, and Conflict for files that
    are not as expected; unless the message says otherwise, nothing was changed then."""

    def __init__(self, root: Path, state: Path, system: System | None = None) -> None:
        self.gate = PathGate(root, system or System())
        self.ledger = Ledger(self.gate.root, state, self.gate.system)

    @property
    def root(self) -> Path:
        """The project's real path."""
        return self.gate.root

    @property
    def empty(self) -> bool:
        """Whether there is nothing to undo, redo or finish."""
        index = self.ledger.load()
        return not (index.done or index.undone or index.pending)

    def apply(self, changes: Sequence[Change], note: str) -> Entry:
        """Makes the changes, all or none. `note` is one line for `coder log`. Forgets what could be redone."""
        _check(changes)
        with self._locked(create=True) as index:
            entry = f"{index.next:06d}"
            record = Record(note, time.time(), tuple(changes), tuple(self._missing_folders(changes)))
            transition = Transition(self.gate, record.changes, record.folders, entry)
            self._refuse_differing(transition, forward=True)
            self.ledger.add(entry, record)
            begun = replace(index, next=index.next + 1)
            self._move(begun, _settled(begun, entry, forward=True), transition, forward=True)
            self.ledger.forget([*index.undone, *index.done[: -KEPT + 1]])
        return self._entry(entry, "done")

    def undo(self) -> Entry:
        """Takes the latest change back. Raises Conflict when its files were edited since."""
        return self._step(forward=False)

    def redo(self) -> Entry:
        """Makes the change that was undone last again."""
        return self._step(forward=True)

    def entries(self) -> list[Entry]:
        """All changes that can be undone or redone, oldest first."""
        index = self.ledger.load()
        undone = [self._entry(entry, "undone") for entry in reversed(index.undone)]
        return [self._entry(entry, "done") for entry in index.done] + undone

    def changes(self, entry: str) -> tuple[Change, ...]:
        """What an entry changed, as it was applied."""
        return self.ledger.read(entry).changes

    def recover(self) -> Recovery | None:
        """Finishes or rolls back what an earlier run left half done. None when there is nothing to do, when that run is
        still at it, or when the project cannot be reached."""
        if self.ledger.load().pending is None or not self.gate.root.is_dir():
            return None
        try:
            with self.ledger.lock(wait=0.0):
                return self._recover(self.ledger.load())
        except BlockingIOError:
            return None

    @property
    def abandoned(self) -> bool:
        """Whether the project is gone and leaves nothing to finish; what could be undone is kept for some time."""
        if not _gone(self.root) or self.ledger.load().pending is not None:
            return False
        return self.empty or time.time() - self.ledger.written > _ABANDONED_SECONDS

    @contextmanager
    def _locked(self, create: bool = False) -> Iterator[Index]:
        """The lock, and an index in which nothing is pending. The folder must be there, or is made if `create`."""
        try:
            if create:
                self.ledger.create()
            with self.ledger.lock(_LOCK_SECONDS):
                self._recover(self.ledger.load())
                yield self.ledger.load()
        except BlockingIOError:
            raise Conflict("another `coder` is changing this project", "Wait for it to end.") from None
        except OSError as error:
            raise from_os_error(error, f"write the journal in {self.ledger.folder}") from error

    def _step(self, forward: bool) -> Entry:
        if not self.ledger.folder.is_dir():  # and it is not made for nothing
            raise _nothing(forward)
        with self._locked() as index:
            source = index.undone if forward else index.done
            if not source:
                raise _nothing(forward)
            entry = source[-1]
            record = self.ledger.read(entry)
            transition = Transition(self.gate, record.changes, record.folders, entry)
            self._refuse_differing(transition, forward)
            self._move(index, _settled(index, entry, forward), transition, forward)
        return self._entry(entry, "done" if forward else "undone")

    def _refuse_differing(self, transition: Transition, forward: bool) -> None:
        if differing := transition.differing(forward):
            raise Conflict(f"changed since: {', '.join(differing)}", "Nothing was written. Put these files back first.")

    def _move(self, index: Index, settled: Index, transition: Transition, forward: bool) -> None:
        """The tree moves between two writes of the index. What goes wrong between them is taken back here; if even that
        fails, the next command does it."""
        pending = {"entry": transition.tag, "forward": forward}
        self.ledger.save(replace(index, pending=pending))
        try:
            transition.bring(forward)
        except BaseException as error:
            try:
                transition.bring(not forward)
                self._drop(index, transition.tag)
            except OSError as second:
                raise from_os_error(second, "take back half of a change; the next `coder` command will") from error
            if isinstance(error, OSError):
                raise from_os_error(error, "write the files, so nothing was changed") from error
            raise
        try:
            self.ledger.save(settled)
        except OSError as error:
            raise from_os_error(error, "close the journal; the files are written, as `coder log` will say") from error

    def _recover(self, index: Index) -> Recovery | None:
        if index.pending is None:
            return None
        entry, forward = index.pending["entry"], index.pending["forward"]
        record = self.ledger.read(entry)
        transition = Transition(self.gate, record.changes, record.folders, entry)
        finished = transition.arrived(forward)
        foreign = transition.bring(forward if finished else not forward)
        if finished:
            self.ledger.save(_settled(index, entry, forward))
        else:
            self._drop(replace(index, pending=None), entry)
        return Recovery(self.gate.root, entry, finished, tuple(foreign))

    def _drop(self, index: Index, entry: str) -> None:
        """Closes an entry that was taken back; one that was new is forgotten."""
        self.ledger.save(index)
        if entry not in index.done + index.undone:
            self.ledger.forget([entry])

    def _missing_folders(self, changes: Sequence[Change]) -> list[str]:
        """The folders that created files need and that are not there, shallow ones first."""
        missing = set()
        for change in changes:
            components = parts(change.path) if change.before is None else ()
            for depth in range(1, len(components)):
                folder = "/".join(components[:depth])
                if not os.path.lexists(self.gate.root / folder):
                    missing.add(folder)
        return sorted(missing, key=lambda folder: (folder.count("/"), folder))

    def _entry(self, entry: str, state: str) -> Entry:
        record = self.ledger.read(entry)
        return Entry(entry, record.time, record.note, tuple(change.path for change in record.changes), state)


def journal_of(folder: Path, state: Path) -> Journal:
    """The journal for somebody who is in `folder`: its own; where that is empty, that of the nearest folder above whose
    journal is not, in the same git repository if there is one. For a folder that does not exist, only its own. Raises
    OSError, and Failure for a damaged one."""
    own = Journal(folder, state)
    top = work_tree(own.root)
    for above in own.root.parents if own.empty and own.root.is_dir() else ():
        if top is not None and not above.is_relative_to(top):
            break
        journal = Journal(above, state)
        if not journal.empty:
            return journal
    return own


def recover_all(state: Path, system: System | None = None) -> Iterator[Recovery | Failure]:
    """Recovers every project whose change was interrupted: any command may come after it, in any folder. Journals of
    projects that are gone are dropped on the way."""
    for root in sorted((state / "journal").glob("*/root")):
        try:
            journal = Journal(Path(os.fsdecode(root.read_bytes())), state, system)
            recovery = journal.recover()
            if recovery is not None:
                yield recovery
            elif journal.ledger.folder == root.parent and journal.abandoned:
                journal.ledger.drop()
        except OSError as error:
            yield from_os_error(error, f"finish an interrupted change (journal in {root.parent})")
        except Failure as failure:
            yield failure


def _gone(path: Path) -> bool:
    """Whether there is surely nothing at `path`."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass  # it cannot be told
    return False


def _nothing(forward: bool) -> Conflict:
    return Conflict(f"nothing to {'redo' if forward else 'undo'} here", "See `coder log`.")


def _settled(index: Index, entry: str, forward: bool) -> Index:
    """The index once `entry` was applied or redone (forward) or undone. A new entry ends what could be redone."""
    done, undone = (tuple(name for name in names if name != entry) for names in (index.done, index.undone))
    if not forward:
        return replace(index, pending=None, done=done, undone=(*undone, entry))
    redone = undone if entry in index.undone else ()
    return replace(index, pending=None, done=(*done, entry)[-KEPT:], undone=redone)


def _check(changes: Sequence[Change]) -> None:
    paths = [change.path for change in changes]
    if not changes or len(set(paths)) != len(paths):
        raise ValueError("a change of the tree needs at least one file, and each only once")
    if any(change.before == change.after for change in changes):
        raise ValueError("a change that changes nothing")

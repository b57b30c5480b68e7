"""Systems whose k-th call fails: the harness of the journal's tests and of benchmarks/journal_faults.py."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import time
from pathlib import Path

from coder.atomic import System
from coder.failure import Failure
from coder.journal import Journal, recover_all
from coder.patch import Change, Version

CALLS = [name for name in vars(System) if not name.startswith("_")]


class Crash(BaseException):
    """The process is gone: no clean-up runs after it."""


class Counting(System):
    """Counts its calls. `fail_at` is the number of the call, from 1, that fails; 0 for none.

    kind "error": that one call raises EIO and has no effect; "late": it has its effect and raises then; "full": from
    that call on, every write raises ENOSPC; "crash": that call and all after it raise Crash; "torn": as "crash", but a
    write is done by half. A flush does nothing, so that thousands of runs take seconds.
    """

    def __init__(self, fail_at: int = 0, kind: str = "error") -> None:
        self.count = 0
        self.fail_at = fail_at
        self.kind = kind
        for name in CALLS:
            setattr(self, name, self._wrap(name, getattr(os, name)))

    def _wrap(self, name, call):
        real = (lambda fd: None) if name == "fsync" else call

        def wrapped(*arguments, **keywords):
            self.count += 1
            due = self.fail_at and self.count >= self.fail_at
            exact = self.count == self.fail_at
            if due and self.kind in ("crash", "torn"):
                if exact and self.kind == "torn" and name == "write":
                    fd, data = arguments
                    os.write(fd, data[: len(data) // 2])
                if name == "close":
                    call(*arguments, **keywords)  # the dead process's descriptors are closed; the test's must be too
                raise Crash
            if due and self.kind == "full" and name == "write":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if exact and self.kind == "error":
                if name == "close":
                    call(*arguments, **keywords)
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            result = real(*arguments, **keywords)
            if exact and self.kind == "late":
                if name == "open":
                    os.close(result)
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return result

        return wrapped


def fault_everywhere(base: Path, kind: str, direction: str, files: int) -> int:
    """For every k: the k-th system call of "apply", "undo" or "redo" fails; once the next command recovered, the tree
    must be wholly on one side and the journal must say which. Returns how many calls were broken."""
    calls = 0
    while True:
        calls += 1
        root, state = base / f"{calls}" / "root", base / f"{calls}" / "state"
        root.mkdir(parents=True)
        if _fault(root, state, kind, direction, files, calls) < calls:
            return calls - 1
        shutil.rmtree(base / f"{calls}")


def _fault(root: Path, state: Path, kind: str, direction: str, files: int, call: int) -> int:
    changes = make_tree(root, files)
    before = snapshot(root)
    clean = Journal(root, state, Counting())
    if direction != "apply":
        clean.apply(changes, "")
    if direction == "redo":
        clean.undo()
    start = snapshot(root)
    system = Counting(call, kind)
    broken = Journal(root, state, system)
    failure: Failure | None = None
    try:
        broken.apply(changes, "") if direction == "apply" else getattr(broken, direction)()
    except Failure as error:
        failure = error
    except Crash:
        pass
    if failure and snapshot(root) != start:
        assert "the files are written" in failure.message or "the next `coder` command" in failure.message
    assert not [outcome for outcome in recover_all(state, Counting()) if isinstance(outcome, Failure)]
    now, states = snapshot(root), [entry.state for entry in clean.entries()]
    if states == ["done"]:
        clean.undo()
        assert now != before
        assert snapshot(root) == before
    else:
        assert now == before
    return system.count


def kill_midway(base: Path, files: int, seed: int) -> bool:
    """Kills a process with SIGKILL at a random moment of its `apply`, recovers, and asserts that the tree is wholly on
    one side. Returns whether the process was hit while at it."""
    root, state = base / "root", base / "state"
    root.mkdir(parents=True)
    changes = make_tree(root, files)
    before = snapshot(root)
    rehearsal = Journal(root, state)
    begun = time.perf_counter()
    rehearsal.apply(changes, "")
    whole = time.perf_counter() - begun
    after = snapshot(root)
    rehearsal.undo()
    child = os.fork()
    if child == 0:
        Journal(root, state).apply(changes, "")
        os._exit(0)
    time.sleep(random.Random(seed).uniform(0, whole))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert not [outcome for outcome in recover_all(state) if isinstance(outcome, Failure)]
    done = [entry.state for entry in Journal(root, state).entries()] == ["done"]
    assert snapshot(root) == (after if done else before)
    return os.WIFSIGNALED(status)


def make_tree(root: Path, files: int) -> list[Change]:
    """Makes a tree of `files` files and returns changes of every kind: most edited, some created, some deleted."""
    changes = []
    for number in range(files):
        path = f"package{number % 3}/module{number}.py"
        before = Version(f"value = {number}\r\n".encode() * 20, 0o755 if number % 4 == 0 else 0o644)
        after: Version | None = Version(before.data.replace(b"value", b"valeur"), before.mode)
        if number % 5 == 3:
            path, before = f"new{number % 2}/deep/module{number}.py", None
            after = Version(b"created = True\n", 0o600)
        elif number % 5 == 4:
            after = None
        if before is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(before.data)
            (root / path).chmod(before.mode)
        changes.append(Change(path, before, after))
    (root / "other.txt").write_text("not part of it\n")
    return changes


def snapshot(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file and folder under `root`, with mode and bytes."""
    return {
        str(path.relative_to(root)): (oct(path.stat().st_mode), path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }

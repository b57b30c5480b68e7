"""One forked child at a time: its own process group, its own event pipe, a time limit for each test, a certain end."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

from . import wire

Event = dict[str, Any]
EVENT_BYTES = 64 << 20
PR_SET_CHILD_SUBREAPER = 36
POLL_S = 0.05


class TimeLimits:
    """Seconds that a child may take: until its first test, between tests, and for each test."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.start: float = spec["start"]
        self.default: float = spec["default"]
        self.nodes: dict[str, float] = spec.get("nodes", {})

    def of(self, node: str) -> float:
        return self.nodes.get(node, self.default)


def adopt_orphans() -> None:
    """Children of a dead child come to this process instead of to init, where it finds them."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def supervise(work: Callable[[int], None], limits: TimeLimits, forward: Callable[[Event], None], alone: bool) -> Event:
    """Run `work(event_fd)` in a child, hand each of its events to `forward`, and say how it ended.

    The child ends by the event "end"; whatever dies without it, floods the pipe or passes a time limit is killed
    with all its descendants. `alone` says that signals reach nothing but this server's own.
    Returns {"ended": bool, "status": of wait(2), "timed_out": node or None, "running": node or None}.
    """
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(work, read_fd, write_fd)
    os.close(write_fd)
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass  # the child was quicker
    try:
        result = _follow(pid, read_fd, limits, forward)
    finally:
        os.close(read_fd)
        status = _finish(pid, alone)
    result["status"] = status
    return result


def _child(work: Callable[[int], None], read_fd: int, write_fd: int) -> None:
    try:
        os.setpgid(0, 0)
        os.close(read_fd)
        work(write_fd)
        wire.send(write_fd, {"e": "end"})
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _follow(pid: int, fd: int, limits: TimeLimits, forward: Callable[[Event], None]) -> Event:
    running: str | None = None
    deadline = time.monotonic() + limits.start
    buffer = bytearray()
    received = 0
    dead = False
    while True:
        ready = select.select([fd], [], [], max(0.0, min(POLL_S, deadline - time.monotonic())))[0]
        if ready:
            chunk = os.read(fd, 1 << 16)
            received += len(chunk)
            buffer += chunk
            if not chunk or received > EVENT_BYTES:
                return {"ended": False, "timed_out": None, "running": running}
        elif dead:
            return {"ended": False, "timed_out": None, "running": running}
        elif time.monotonic() >= deadline:
            return {"ended": False, "timed_out": running or "", "running": running}
        else:
            # A grandchild may hold the pipe open after the child's death; then no end of file ever comes.
            dead = _is_dead(pid)
            continue
        while (end := buffer.find(b"\n")) >= 0:
            event = _parse(bytes(buffer[:end]))
            del buffer[: end + 1]
            kind = event.get("e")
            if kind == "end":
                return {"ended": True, "timed_out": None, "running": None}
            if kind == "start":
                running = str(event.get("node"))
                deadline = time.monotonic() + limits.of(running)
            elif kind == "test":
                running = None
                deadline = time.monotonic() + limits.start
            forward(event)


def _parse(line: bytes) -> Event:
    try:
        event = json.loads(line)
    except ValueError:
        return {"e": "garbled"}
    return event if isinstance(event, dict) else {"e": "garbled"}


def _is_dead(pid: int) -> bool:
    """Whether the child has ended; it stays a zombie, so that its id cannot be given to another."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _finish(pid: int, alone: bool) -> int:
    """Kill the child and all that it left behind; returns its wait status."""
    if alone:
        _signal(-1, signal.SIGKILL)
    else:
        for stray in _halted_descendants():
            _signal(stray, signal.SIGKILL)
    _signal(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return status


def _halted_descendants() -> list[int]:
    """All descendants, stopped one after the other until no new one appears: a stopped process starts no others, and
    holds its place under the limit on processes, so that even a fork bomb comes to rest."""
    found: dict[int, None] = {}
    for _ in range(1000):
        fresh = [pid for pid in _descendants() if pid not in found]
        if not fresh:
            break
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
            found[pid] = None
    return list(found)


def _descendants() -> list[int]:
    known: list[int] = []
    queue = [os.getpid()]
    while queue:
        pid = queue.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            continue
        known += children
        queue += children
    return known


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)

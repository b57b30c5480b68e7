"""The outside end of a test server: starts it in its jail, sends requests, reads events that nobody should trust."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox import landlock, policy
from sandbox.contract import Ending, Level, Limits
from sandbox.jail import Sandbox
from sandbox.testing import inside
from sandbox.testing.report import TestsNotRun
from sandbox.text import clean
from sandbox.working_copy import WorkingCopy

Event = dict[str, Any]
INSIDE_FOLDER = Path(inside.__file__ or "").resolve().parent
START_S = 120.0
SUITE_S = 3600.0
"""The longest wait for a whole suite; the server itself bounds each test."""
LINE_LIMIT = 16 << 20
_RAISE_MEMORY = ": raise memory_mb in config.toml (`coder config` shows where it is)"


@dataclass(frozen=True)
class Setup:
    """What every server of one session shares. `origin` is where the tree was copied from (for editable installs)."""

    sandbox: Sandbox
    python: Path = Path(sys.executable)
    arguments: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    origin: str = ""
    read_only: tuple[Path, ...] = ()


@dataclass
class Answer:
    """All that came back for one request. `done` is the server's own word, apart from what the child said."""

    events: list[Event] = field(default_factory=list)
    done: Event = field(default_factory=dict)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.get("e") == kind]


class ServerLost(Exception):
    """The server died or fell silent. The message says how it ended."""


class TestServer:
    """One jailed server process. Its copy of the tree is its own. Use from one thread at a time."""

    __test__ = False

    def __init__(
        self,
        setup: Setup,
        tree: WorkingCopy,
        mode: str,
        preload: Sequence[str] = (),
        protected: Sequence[str] = (),
        writable: bool = True,
    ) -> None:
        self._python = setup.python
        self._buffer = bytearray()
        request_read, self._requests = os.pipe()
        self._replies, reply_write = os.pipe()
        settings = {
            "mode": mode,
            "arguments": list(setup.arguments),
            "preload": list(preload),
            "protected": list(protected),
            "writable": writable,
            # A pid namespace, or Landlock's scope of signals, makes it safe for the server to kill all that it can.
            "alone": setup.sandbox.level is not Level.NONE,
            "origin": setup.origin,
            "landlock": str(Path(landlock.__file__).resolve()),
        }
        argv = [str(setup.python), "-B", str(INSIDE_FOLDER / "start.py"), str(request_read), str(reply_write)]
        try:
            self._jailed = setup.sandbox.spawn(
                argv,
                tree,
                limits=replace(setup.limits, wall_s=math.inf),
                env={"PYTHONDONTWRITEBYTECODE": "1"},
                read_only=[
                    INSIDE_FOLDER,
                    Path(landlock.__file__).resolve(),
                    *policy.interpreter_paths(setup.python),
                    *setup.read_only,
                ],
                pass_fds=(request_read, reply_write),
            )
        except BaseException:
            os.close(self._requests)
            os.close(self._replies)
            raise
        finally:
            os.close(request_read)
            os.close(reply_write)
        try:
            self._send(settings)
            self.ready = self._until("ready", START_S)
        except BaseException:
            self.close()
            raise

    def ask(
        self, request: Mapping[str, Any], deadline_s: float, on_event: Callable[[Event], None] | None = None
    ) -> Answer:
        """Send one request and read to its end. Raises ServerLost."""
        self._send(request)
        answer = Answer()
        for event in self._events(deadline_s):
            if event.get("e") == "done":
                answer.done = event
                return answer
            answer.events.append(event)
            if on_event:
                on_event(event)
        raise ServerLost(self._why())

    def close(self) -> None:
        self._jailed.kill()
        with contextlib.suppress(Exception):
            self._jailed.wait(30)
        for fd in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._requests = self._replies = -1

    def _send(self, message: Mapping[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode("ascii") + b"\n")
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except BrokenPipeError:
            raise ServerLost(self._why()) from None

    def _until(self, kind: str, deadline_s: float) -> Event:
        for event in self._events(deadline_s):
            if event.get("e") == kind:
                return event
            if event.get("e") == "fatal":
                raise self._fatal(event)
        raise ServerLost(self._why())

    def _events(self, deadline_s: float) -> Iterator[Event]:
        """Events until the pipe closes or `deadline_s` seconds have passed."""
        deadline = time.monotonic() + deadline_s
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                yield _event(line)
                continue
            wait = max(0.0, deadline - time.monotonic())
            if len(self._buffer) > LINE_LIMIT or not select.select([self._replies], [], [], wait)[0]:
                return
            piece = os.read(self._replies, 1 << 16)
            if not piece:
                return
            self._buffer += piece

    def _why(self) -> str:
        completed = None
        with contextlib.suppress(TimeoutError):
            completed = self._jailed.wait(1.0)
        if completed is None:
            return "the tests fell silent"
        if completed.ending is not Ending.EXITED:
            hint = _RAISE_MEMORY if completed.ending is Ending.MEMORY else ""
            return f"the tests were ended by the {completed.ending.value}{hint}"
        return f"the test process ended with {completed.returncode}: {completed.stderr.strip()[-1000:]}"

    def _fatal(self, event: Event) -> Exception:
        if event.get("error") == "NoPytest":
            return TestsNotRun(
                f"no usable pytest for {self._python}: install pytest 7 or newer there "
                f"(`{self._python} -m pip install pytest`), or name the project's own interpreter with --python"
            )
        return ServerLost(f"{text_of(event, 'error')}: {text_of(event, 'message')} {text_of(event, 'tail')}".strip())


def _event(line: bytes) -> Event:
    try:
        event = json.loads(line)
    except ValueError:
        return {"e": "garbled"}
    return event if isinstance(event, dict) else {"e": "garbled"}


def text_of(event: Mapping[str, Any], key: str) -> str:
    """A text out of an event, safe to show; "" for anything else."""
    value = event.get(key)
    return clean(value.encode("utf-8", "replace").decode()) if isinstance(value, str) else ""


def number_of(event: Mapping[str, Any], key: str) -> float:
    value = event.get(key)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0

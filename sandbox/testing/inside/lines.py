"""Which lines of the repository one test ran: `sys.monitoring` from Python 3.12, `sys.settrace` before."""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

from .failures import Repository

# A frame that shows nothing new for so many line events is no longer traced: loops would cost tenfold otherwise.
QUIET_EVENTS = 20_000


class Traced:
    """The collector for Python 3.11 and older."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._ran: dict[int, tuple[CodeType, set[int]]] = {}  # by identity: hashing a code object costs
        self._size: dict[int, tuple[CodeType, int]] = {}

    def start(self) -> None:
        self._ran = {}
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> dict[str, list[int]]:
        sys.settrace(None)
        threading.settrace(None)
        return _by_path(self._repository, self._ran.values())

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any | None:
        code = frame.f_code
        if not self._repository.relative(code.co_filename):
            return None
        _, ran = self._ran.setdefault(id(code), (code, set()))
        if id(code) not in self._size:
            self._size[id(code)] = code, len(_lines_of(code))
        size = self._size[id(code)][1]
        if len(ran) >= size:
            return None
        quiet = 0

        def line(frame: FrameType, event: str, arg: object) -> Any | None:
            nonlocal quiet
            if event == "line":
                if frame.f_lineno in ran:
                    quiet += 1
                else:
                    quiet = 0
                    ran.add(frame.f_lineno)
                if quiet > QUIET_EVENTS or len(ran) >= size:
                    return None
            return line

        return line


class Monitored:
    """The collector for Python 3.12 and newer: each line reports once for each test and is then free."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._ran: dict[CodeType, set[int]] = {}
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = next(tool for tool in range(6) if self._monitoring.get_tool(tool) is None)

    def start(self) -> None:
        self._ran = {}
        monitoring = self._monitoring
        monitoring.use_tool_id(self._tool, "lines")
        monitoring.register_callback(self._tool, monitoring.events.LINE, self._line)
        monitoring.set_events(self._tool, monitoring.events.LINE)
        monitoring.restart_events()

    def stop(self) -> dict[str, list[int]]:
        self._monitoring.set_events(self._tool, 0)
        self._monitoring.free_tool_id(self._tool)
        return _by_path(self._repository, self._ran.items())

    def _line(self, code: CodeType, line: int) -> Any:
        if self._repository.relative(code.co_filename):
            self._ran.setdefault(code, set()).add(line)
        return self._monitoring.DISABLE


def collector(repository: Repository) -> Any:
    return Monitored(repository) if hasattr(sys, "monitoring") else Traced(repository)


def _lines_of(code: CodeType) -> set[int]:
    """Lines that can report; the `def` line itself does so only where the body shares it."""
    lines = {line for _, line in dis.findlinestarts(code) if line is not None}
    return lines - {code.co_firstlineno} or lines


def _by_path(repository: Repository, ran: Iterable[tuple[CodeType, set[int]]]) -> dict[str, list[int]]:
    lines: dict[str, set[int]] = {}
    for code, numbers in ran:
        lines.setdefault(repository.relative(code.co_filename), set()).update(numbers)
    return {path: sorted(numbers) for path, numbers in lines.items()}

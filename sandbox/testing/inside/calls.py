"""Which functions of the repository run while the tests are collected: a later swap cannot undo what they made."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

from .failures import Repository

Key = tuple[str, int, str]  # file, first line, name: what tells one code object from all others


def key(code: CodeType) -> Key:
    return code.co_filename, code.co_firstlineno, code.co_name


class Calls:
    """Notes functions that run between `start` and `stop`."""

    def __init__(self, repository: Repository) -> None:
        self.called: set[Key] = set()
        self._repository = repository
        self._monitoring: Any = getattr(sys, "monitoring", None)  # Python 3.12 and newer

    def start(self) -> None:
        if self._monitoring is None:
            threading.settrace(self._enter)
            sys.settrace(self._enter)
            return
        events = self._monitoring.events
        self._tool = next(tool for tool in range(6) if self._monitoring.get_tool(tool) is None)
        self._monitoring.use_tool_id(self._tool, "calls")
        for event in (events.PY_START, events.PY_RESUME):
            self._monitoring.register_callback(self._tool, event, self._note)
        self._monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME)

    def stop(self) -> None:
        if self._monitoring is None:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type,unused-ignore]
            return
        self._monitoring.set_events(self._tool, 0)
        self._monitoring.free_tool_id(self._tool)

    def _enter(self, frame: FrameType, event: str, arg: object) -> None:
        if self._repository.relative(frame.f_code.co_filename):
            self.called.add(key(frame.f_code))

    def _note(self, code: CodeType, offset: int) -> Any:
        if self._repository.relative(code.co_filename):
            self.called.add(key(code))
        return self._monitoring.DISABLE

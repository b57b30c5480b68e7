"""A pytest plugin: writes every test's outcome, and on request the source lines that it ran, to a JSON file.

INJECTED_PROBE_OUT names the file. INJECTED_PROBE_ROOT, if set, asks for lines of the files below that folder.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import defaultdict
from types import CodeType, FrameType
from typing import Any

import pytest


class Probe:
    def __init__(self, out: str, root: str | None):
        self.out = out
        self.root = root
        self.outcomes: dict[str, str] = {}
        self.lines: dict[str, dict[str, set[int]]] = {}
        self.current: dict[str, set[int]] = {}
        self.known: dict[CodeType, str | None] = {}

    def path_of(self, code: CodeType) -> str | None:
        if code not in self.known:
            name = code.co_filename
            self.known[code] = os.path.relpath(name, self.root) if name.startswith(f"{self.root}/") else None
        return self.known[code]

    def on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = self.path_of(frame.f_code)
        if path is None:
            return None
        lines = self.current[path]

        def on_line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            return on_line

        return on_line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        if self.root is None:
            return (yield)
        self.current = defaultdict(set)
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            self.lines[item.nodeid] = dict(self.current)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worst = self.outcomes.get(report.nodeid)
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif worst != "failed" and (report.when == "call" or report.skipped):
            self.outcomes[report.nodeid] = report.outcome

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        lines = {test: {path: sorted(found) for path, found in paths.items()} for test, paths in self.lines.items()}
        with open(self.out, "w") as file:
            json.dump({"exit": int(exitstatus), "outcomes": self.outcomes, "lines": lines}, file)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Probe(os.environ["INJECTED_PROBE_OUT"], os.environ.get("INJECTED_PROBE_ROOT")))

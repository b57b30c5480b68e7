"""The pytest plugin that reports: what was collected, when each test starts, how it ended and why."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from . import failures, judges

Emit = Callable[[dict[str, Any]], None]
OUTPUT_LIMIT = 4000


class Events:
    """Emits {"e": "collected" | "uncollected" | "start" | "test" | "finish", …}, once it was told where to."""

    def __init__(self, repository: failures.Repository) -> None:
        self._emit: Emit = lambda event: None
        self._repository = repository
        self._lines: Any | None = None
        self._alarm_s = 0.0
        # Held here, so that code under test that gets at the modules cannot put others in their place.
        self._describe, self._outcome, self._output = failures.describe, outcome, _output
        self._phases: list[Any] = []
        self._failure: dict[str, Any] = {}
        self.failed = False

    def begin(self, emit: Emit, lines: Any | None = None, alarm_s: float = 0.0) -> None:
        """`lines` is a line collector or None; `alarm_s`, when set, raises TimeLimit inside a test that runs longer."""
        self._emit, self._lines, self._alarm_s = emit, lines, alarm_s

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if isinstance(report, pytest.CollectReport):
            failure = self._describe(call.excinfo.value, self._repository)
            tests = judges.holds_tests(node)
            self._emit({"e": "uncollected", "node": node.nodeid or ".", "tests": tests, **failure})

    def pytest_collection_finish(self, session: Any) -> None:
        nodes = [item.nodeid for item in session.items]
        self._emit({"e": "collected", "nodes": nodes, "files": judges.files_of(session.items, self._repository)})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._phases, self._failure = [], {}
        self._emit({"e": "start", "node": item.nodeid})
        if self._alarm_s:
            signal.signal(signal.SIGALRM, _interrupt)
            signal.setitimer(signal.ITIMER_REAL, self._alarm_s)
        if self._lines:
            self._lines.start()
        yield
        ran = self._lines.stop() if self._lines else {}
        if self._alarm_s:
            signal.setitimer(signal.ITIMER_REAL, 0)
        failing = [report for report in self._phases if report.failed]
        self.failed = bool(failing)
        self._emit(
            {
                "e": "test",
                "node": item.nodeid,
                "outcome": self._outcome(self._phases),
                "seconds": sum(report.duration for report in self._phases),
                "lines": ran,
                "output": self._output(failing),
                **(self._failure if failing else {}),
            }
        )

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.excinfo is not None and not self._failure:
            self._failure = self._describe(call.excinfo.value, self._repository)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._phases.append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._emit({"e": "finish"})


class InProcess:
    """Keeps the tests in this process and their lines unmeasured where a plugin would have it otherwise: pytest-xdist,
    pytest-cov. Only one that is loaded knows the option: the project may have it installed and switched off."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> Iterator[None]:
        if early_config.pluginmanager.hasplugin("xdist"):
            args.append("-n0")
        if early_config.pluginmanager.hasplugin("pytest_cov"):
            args.append("--no-cov")
            early_config.known_args_namespace.no_cov = True  # it goes by this, which was read before
        yield


class Selection:
    """Collects only the files of `wanted` node ids and keeps only those tests, in that order.

    pytest is still started with the same arguments as ever, so that it finds the same root and configuration.
    """

    def __init__(self, root: str, wanted: Sequence[str]) -> None:
        self._wanted = {node: place for place, node in enumerate(wanted)}
        files = {os.path.join(root, *node.partition("::")[0].split("/")) for node in wanted}
        self._files = files
        self._folders = {root}
        for file in files:
            folder = os.path.dirname(file)
            while folder not in self._folders and len(folder) > len(root):
                self._folders.add(folder)
                folder = os.path.dirname(folder)

    def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
        path = str(collection_path)
        if path in self._files or os.path.basename(path) == "__init__.py":
            return None
        return None if path in self._folders else True

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Iterator[None]:
        yield
        places = [(self._place(item.nodeid), item) for item in items]
        items[:] = [item for place, item in sorted(places, key=lambda pair: pair[0]) if place >= 0]

    def _place(self, node: str) -> int:
        """A file among the wanted stands for all its tests."""
        return self._wanted.get(node, self._wanted.get(node.partition("::")[0], -1))


class Skip:
    """Leaves out tests that were run before: a run goes on where a killed one ended."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._nodes = frozenset(nodes)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Iterator[None]:
        yield
        items[:] = [item for item in items if item.nodeid not in self._nodes]


class StopAtFailure:
    """Ends the run after the first test that fails."""

    def __init__(self) -> None:
        self._session: Any = None

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._session.shouldfail = "stopped at the first failing test"


def outcome(phases: Sequence[Any]) -> str:
    """One word for the reports of a test's set-up, call and tear-down; the words of sandbox.testing.report.Outcome."""
    result = ""
    for report in phases:
        xfail = hasattr(report, "wasxfail")
        if report.failed:
            return "failed" if report.when == "call" else "error"
        if report.skipped:
            result = result or ("xfailed" if xfail else "skipped")
        elif report.when == "call" and report.passed:
            result = result or ("xpassed" if xfail else "passed")
    return result or "error"


def _output(failing: Sequence[Any]) -> str:
    return "\n".join(text for report in failing for _, text in report.sections)[-OUTPUT_LIMIT:]


def _interrupt(number: int, frame: Any) -> None:
    raise failures.TimeLimit("the test ran longer than its time limit")

"""Runs the program in-process, with its own streams and folders, and with stand-ins for the sandbox and the search."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coder import events
from coder.cli.main import main
from coder.environment import Environment
from coder.patch import Edit, Proposal, Span
from coder.repair.context import Proved
from sandbox.contract import Level
from sandbox.testing.report import Baseline, Outcome, TestReport, Verdict


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Outcomes:
    """What a command came to."""

    status: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


class Program:
    """`coder` with a home of its own. `answers` are typed at a terminal; None means that there is none. The terminal
    knows no colours, so that whatever steers it came from elsewhere."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.parts: dict[str, Any] = {}
        self.variables = {"TERM": "dumb", "COLUMNS": "200"}

    def __call__(self, *arguments: str, answers: str | None = None) -> Outcomes:
        stream = io.StringIO if answers is None else Terminal
        environment = Environment(
            stdin=stream(answers or ""),
            stdout=io.StringIO(),
            stderr=stream(),
            variables=self.variables,
            cwd=self.project,
            config=self.home / "config",
            state=self.home / "state",
            parts=self.parts,
        )
        status = main(arguments, environment)
        return Outcomes(status, environment.stdout.getvalue(), environment.stderr.getvalue())


@dataclass
class FakeSandbox:
    level: Level = Level.BWRAP_USER


class FakeTester:
    """Tests of which the baseline is given."""

    def __init__(self, reports: Sequence[TestReport], test_files: tuple[str, ...] = ()) -> None:
        self.reports = reports
        self.test_files = test_files
        self.closed = False

    def baseline(self, nodes=(), progress=None) -> Baseline:
        for number, report in enumerate(self.reports, 1):
            progress(number, len(self.reports), report.node, report.outcome)
        return Baseline({report.node: report for report in self.reports}, 1.5, test_files=self.test_files)

    def close(self) -> None:
        self.closed = True


def report(node: str, outcome: str = "failed", **more: Any) -> TestReport:
    return TestReport(node, Outcome(outcome), **more)


def fake_search(*replacements: tuple[str, str]) -> Any:
    """A search that proves one patch for each (old, new) in a.py, after three candidates."""

    def search(context: Any, listener: events.Listener) -> list[Proved]:
        listener(events.Localized((events.Suspect("a.py", 2, "clamp", 1.0),), 0.1))
        for number in 1, 2, 3:
            listener(events.Candidate(number, "operator", f"try {number}", "a.py", number == 3, 0.01))
        return [_proved(context.files["a.py"], context.hashes, *replacement) for replacement in replacements]

    return search


def _proved(text: str, hashes: Mapping[str, str], old: str, new: str) -> Proved:
    at = text.index(old)
    edit = Edit(Span("a.py", at, at + len(old)), new)
    proposal = Proposal((edit,), {"a.py": hashes["a.py"]}, "operator", note=f"`{old}` → `{new}` in clamp")
    verdict = Verdict(
        fixed=("test_a.py::test_one",), still_passing=("test_a.py::test_two",), repeats=2, level=Level.BWRAP_USER
    )
    return Proved(proposal, {"a.py": text.replace(old, new)}, verdict, 1.0, 3, 0.5)

"""Stand-ins for the test runner and the model."""

from __future__ import annotations

import ast
import copy
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coder.repair.context import RepairContext, Strategy
from sandbox.testing.report import Baseline, Frame, Outcome, Progress, TestReport, Trial, Verdict, Way

NODE = "test_it.py::test_it"


class ScriptedTester:
    """Judges the text of one file by a function: the number of checks passed, of `checks` in all."""

    def __init__(self, path: str, text: str, judge: Callable[[str], int], checks: int = 1) -> None:
        self.path, self.text, self.judge, self.checks = path, text, judge, checks
        self.tried: list[str] = []
        self.confirmed: list[str] = []
        self.cheats: set[str] = set()

    def baseline(self, nodes: Sequence[str] = (), progress: Progress | None = None) -> Baseline:
        lines = frozenset(range(1, self.text.count("\n") + 1))
        frames = (Frame("test_it.py", 1 + self.judge(self.text), "test_it"),)
        report = TestReport(NODE, Outcome.FAILED, 0.01, "AssertionError", "no", frames, {self.path: lines})
        return Baseline({NODE: report}, 0.1)

    def trial(self, files: Mapping[str, str], nodes: Sequence[str], hasty: bool = False, probes: int = 0) -> Trial:
        text = files[self.path]
        self.tried.append(text)
        passed = self.judge(text)
        if passed >= self.checks:
            return Trial({NODE: Outcome.PASSED}, True, Way.SWAP, 0.001)
        frames = (Frame("test_it.py", 1 + passed, "test_it"),)
        message = f"{passed} checks"
        return Trial({NODE: Outcome.FAILED}, False, Way.SWAP, 0.001, NODE, "AssertionError", message, False, frames)

    def confirm(self, files: Mapping[str, str], repeats: int = 1, targets: Sequence[str] = ()) -> Verdict:
        text = files[self.path]
        self.confirmed.append(text)
        if text in self.cheats:
            return Verdict(dishonest=("it cheats",), unfixed=(NODE,))
        return Verdict(fixed=(NODE,), repeats=repeats)

    def close(self) -> None:
        pass


class FakeScorer:
    """Likes one text: spans and first tokens that hold it are likely, all else is not."""

    def __init__(self, liked: str) -> None:
        self.liked = liked
        self.passes = 0
        self.prefixes: list[str] = []

    def spans(self, prefix: str, middles: Sequence[str], suffix: str) -> list[float]:
        self.passes += 1
        self.prefixes.append(prefix)
        return [-1.0 if self.liked in middle else -99.0 for middle in middles]

    def first_tokens(self, text: str, offsets: Sequence[int]) -> list[Callable[[str], float]]:
        self.passes += 1
        return [lambda alternative: -1.0 if alternative.startswith(self.liked) else -9.0 for _ in offsets]


def context(tester: ScriptedTester, **options: Any) -> RepairContext:
    """A search for the one failing test of a scripted tester."""
    baseline = tester.baseline()
    defaults: dict[str, Any] = {"timeout_s": 60.0, "strategy": Strategy(), "cancel": threading.Event(), "repeats": 1}
    return RepairContext(tester, baseline, {tester.path: tester.text}, (NODE,), **{**defaults, **options})


def checks_of(*cases: tuple[tuple[Any, ...], Any], name: str = "f") -> Callable[[str], int]:
    """A judge: runs function `name` of the text on the cases in order; how many hold before the first that fails."""

    def judge(text: str) -> int:
        names: dict[str, Any] = {}
        if any(isinstance(node, ast.While) for node in ast.walk(ast.parse(text))):
            return 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, "module.py", "exec"), names)
            for index, (arguments, expected) in enumerate(cases):
                if names[name](*copy.deepcopy(arguments)) != expected:  # candidates may change what they are given
                    return index
        except Exception:
            return 0
        return len(cases)

    return judge

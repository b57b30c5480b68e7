"""How long a test may take, judged by how long it took."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sandbox.testing.report import Baseline, TestReport

FLOOR_S = 0.3
FACTOR = 10.0
SLOWEST = 1.5
UNKNOWN_S = 1.0
"""For a suite of which nothing passes: there is no passing time to go by."""


class Pace:
    """max(0.3 s, 10 × the passing time) for each test of a baseline.

    A failing test has no passing time. The median of its file stands for it, else that of the suite, and its own time
    up to the failure, unless that was a time-out; 1.5 × the slowest of its file it may always take. One slow test in a
    file must not buy ten times its time for every candidate that loops.
    """

    def __init__(self, baseline: Baseline) -> None:
        files: dict[str, list[float]] = defaultdict(list)
        for node in baseline.passing:
            test = baseline.tests[node]
            files[test.path].append(test.seconds)
        passing = [seconds for group in files.values() for seconds in group]
        typical = statistics.median(passing) if passing else UNKNOWN_S / FACTOR
        self._files = {
            path: max(statistics.median(group), SLOWEST / FACTOR * max(group)) for path, group in files.items()
        }
        self._typical = typical
        self._tests = baseline.tests
        self.start_s = max(10.0, FACTOR * baseline.seconds)

    def of(self, node: str, slack: float = 1.0) -> float:
        test = self._tests.get(node)
        expected = self._expected(test) if test else self._typical
        return slack * max(FLOOR_S, FACTOR * expected)

    def limits(self, nodes: Iterable[str], slack: float = 1.0) -> dict[str, Any]:
        """The `limits` of a request."""
        each = {node: self.of(node, slack) for node in nodes}
        return {"start": self.start_s, "default": max(each.values(), default=slack * UNKNOWN_S), "nodes": each}

    def _expected(self, test: TestReport) -> float:
        if not test.outcome.failing:
            return test.seconds
        own = 0.0 if test.timed_out else test.seconds
        return max(own, self._files.get(test.path, self._typical))

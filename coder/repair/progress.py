"""How far a candidate that fails came: whether it is half of a repair."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coder.repair.candidate import Candidate
from sandbox.testing.report import Baseline, Frame, Tester, TestReport, Trial

# Failing tests that each of the first candidates is brought before, whatever comes; after so many trials one must do.
PROBES = 3
PROBED = 600
# The quickest failing tests are looked at; those that fail in much the same way as one that is chosen add nothing.
LOOKED_AT = 200
DIFFERENT = 0.1
# Passing tests that the half of a repair must not break, the quickest of those that run the changed lines.
SPARED = 40


@dataclass(frozen=True, order=True)
class Progress:
    """Targets passed, then the line of its own file that the first failing test reached, then whether what failed was
    the test itself, the code having come to its end."""

    passed: int
    line: int
    ended: bool


class Course:
    """Which tests tell of progress, and how far they come without any change (`start`).

    `sources` are the files that may be edited.
    """

    def __init__(self, baseline: Baseline, targets: Sequence[str], sources: Collection[str]) -> None:
        self._baseline = baseline
        self._targets = targets
        self._sources = sources
        self._probes = self._representatives([baseline.tests[node] for node in targets])
        first = baseline.tests[self._probes[0]] if self._probes else None
        self.start = self._progress(0, first.node, first.frames) if first else Progress(0, 0, False)

    def probes(self, tried: int) -> list[str]:
        """The failing tests to run whatever comes, in this order."""
        return self._probes[: PROBES if tried < PROBED else 1]

    def reached(self, trial: Trial) -> Progress:
        outcomes = [trial.outcomes.get(node) for node in self._targets]
        passed = sum(outcome is not None and not outcome.failing for outcome in outcomes)
        return self._progress(passed, trial.failed_at, trial.frames)

    def harms(self, candidate: Candidate, files: Mapping[str, str], tester: Tester) -> bool:
        """Whether an edit breaks a passing test that runs the lines that it changes. Runs the tests."""
        path, first, last = candidate.hunk[1:]
        passing = frozenset(self._baseline.passing)
        near = [node for node in self._baseline.covering(path, range(first, last + 1)) if node in passing]
        near.sort(key=lambda node: self._baseline.tests[node].seconds)
        return bool(near) and not tester.trial(files, near[:SPARED], True).passed

    def _progress(self, passed: int, node: str, frames: tuple[Frame, ...]) -> Progress:
        ended = bool(frames) and frames[-1].path not in self._sources
        return Progress(passed, self._test_line(node, frames), ended)

    def _test_line(self, node: str, frames: tuple[Frame, ...]) -> int:
        """The deepest line in a traceback of the test's own file, or of those that the test command runs."""
        own = (node.partition("::")[0], *self._baseline.test_files)
        return next((frame.line for frame in reversed(frames) if frame.path in own), 0)

    def _representatives(self, failing: Sequence[TestReport]) -> list[str]:
        """The quickest failing test, then those that fail in the most different ways."""
        left = sorted(failing, key=lambda test: test.seconds)[:LOOKED_AT]
        chosen = left[:1]
        while len(chosen) < min(PROBES, len(left)):
            apart = [min(self._distance(test, other) for other in chosen) for test in left]
            if max(apart) < DIFFERENT:
                break
            chosen.append(left[apart.index(max(apart))])
        return [test.node for test in chosen]

    def _distance(self, one: TestReport, other: TestReport) -> float:
        """How differently two tests fail, 0 to 2: by what was raised, and by the lines of the code that they ran."""
        ran, also = self._ran(one.node), self._ran(other.node)
        shared = len(ran & also) / len(ran | also) if ran or also else 1.0
        return float(self._raised(one) != self._raised(other)) + 1.0 - shared

    def _raised(self, test: TestReport) -> tuple[str, Frame | None]:
        return test.error, next((frame for frame in reversed(test.frames) if frame.path in self._sources), None)

    @lru_cache(maxsize=LOOKED_AT)  # noqa: B019 (one for each search)
    def _ran(self, test: str) -> frozenset[tuple[str, int]]:
        lines = self._baseline.tests[test].lines
        return frozenset((path, line) for path in lines if path in self._sources for line in lines[path])

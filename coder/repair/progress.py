"""How far a candidate that fails came: whether it is half of a repair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coder.repair.candidate import Candidate
from coder.repair.complaint import innermost
from sandbox.testing.report import Baseline, Frame, Oracle, Tester, TestReport, Trial

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
    the test itself, the code having come to its end. `inside` are the lines of the code, from the test inwards, at
    which it broke."""

    passed: int
    line: int
    ended: bool
    inside: tuple[int, ...] = field(default=(), compare=False)

    def beyond(self, other: Progress) -> bool:
        """Whether this came further, be it within the code alone: of the calls that both were in, the first that had
        not come to the same line had come to a later one."""
        if self != other:
            return self > other
        return next((one > two for one, two in zip(self.inside, other.inside) if one != two), False)


class Course:
    """Which tests tell of progress, and how far they come without any change (`start`).

    `sources` are the files that may be edited.
    """

    def __init__(self, baseline: Baseline, targets: Sequence[str], sources: Collection[str]) -> None:
        self._baseline = baseline
        self._targets = targets
        self._sources = sources
        self._passing = frozenset(baseline.passing)
        self._judges = frozenset(baseline.test_files if baseline.oracle is Oracle.EXIT_CODE else ())
        self._nodes: dict[tuple[str, ...], list[str]] = {}
        self._probes = self._representatives([baseline.tests[node] for node in targets])
        first = baseline.tests[self._probes[0]] if self._probes else None
        self.start = self._progress(0, first.node, first.frames) if first else Progress(0, 0, False)

    def probes(self, tried: int) -> list[str]:
        """The failing tests to run whatever comes, in this order."""
        return self._probes[: PROBES if tried < PROBED else 1]

    def nodes(self, paths: tuple[str, ...]) -> list[str]:
        """The failing tests, then those that pass and run the code of these files."""
        if paths not in self._nodes:
            covering = dict.fromkeys(node for path in paths for node in self._baseline.covering(path))
            targets = dict.fromkeys(self._targets)
            self._nodes[paths] = [*targets, *(n for n in covering if n in self._passing and n not in targets)]
        return self._nodes[paths]

    def reached(self, trial: Trial, line_before: Callable[[str, int], int] = lambda path, line: line) -> Progress:
        """How far a trial came; `line_before` tells which line of a file a line of the changed file was."""
        outcomes = [trial.outcomes.get(node) for node in self._targets]
        passed = sum(outcome is not None and not outcome.failing for outcome in outcomes)
        frames = tuple(replace(frame, line=line_before(frame.path, frame.line)) for frame in trial.frames)
        return self._progress(passed, trial.failed_at, frames)

    def harms(self, candidate: Candidate, files: Mapping[str, str], tester: Tester) -> bool:
        """Whether an edit breaks a passing test that runs the lines that it changes. Runs the tests."""
        path, first, last = candidate.hunk[1:]
        near = [node for node in self._baseline.covering(path, range(first, last + 1)) if node in self._passing]
        near.sort(key=lambda node: self._baseline.tests[node].seconds)
        return bool(near) and not tester.trial(files, near[:SPARED], True).passed

    def _progress(self, passed: int, node: str, frames: tuple[Frame, ...]) -> Progress:
        ended = bool(frames) and frames[-1].path not in self._sources
        inside = tuple(frame.line for frame in frames if frame.path in self._sources)
        return Progress(passed, self._test_line(node, frames), ended, () if ended else inside)

    def _test_line(self, node: str, frames: tuple[Frame, ...]) -> int:
        """The deepest line in a traceback of the test's own file, or of those that the test command runs."""
        frame = innermost(frames, self._judges or (node.partition("::")[0],))
        return frame.line if frame is not None else 0

    def _representatives(self, failing: Sequence[TestReport]) -> list[str]:
        """The quickest failing test, then those that fail in the most different ways."""
        left = [self._failure(test) for test in sorted(failing, key=lambda test: test.seconds)[:LOOKED_AT]]
        chosen = left[:1]
        while len(chosen) < min(PROBES, len(left)):
            apart = [min(failure.distance(other) for other in chosen) for failure in left]
            if max(apart) < DIFFERENT:
                break
            chosen.append(left[apart.index(max(apart))])
        return [failure.node for failure in chosen]

    def _failure(self, test: TestReport) -> _Failure:
        ran = frozenset((path, line) for path in test.lines if path in self._sources for line in test.lines[path])
        return _Failure(test.node, test.error, innermost(test.frames, self._sources), ran)


@dataclass(frozen=True)
class _Failure:
    """What a test raised and where, and the lines of the code that it ran."""

    node: str
    error: str
    place: Frame | None
    ran: frozenset[tuple[str, int]]

    def distance(self, other: _Failure) -> float:
        """How differently two tests fail, 0 to 2."""
        either = self.ran | other.ran
        shared = len(self.ran & other.ran) / len(either) if either else 1.0
        return float((self.error, self.place) != (other.error, other.place)) + 1.0 - shared

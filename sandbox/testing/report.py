"""What a test run says: reports of single tests, the baseline, the trial of a candidate, the verdict on a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePosixPath
from typing import Protocol

from sandbox.contract import Level


class TestsNotRun(Exception):
    """The tests cannot be run at all. The message says why and what to do next."""

    __test__ = False


class NoTests(TestsNotRun):
    """Nothing went wrong, and nothing was collected."""


class Outcome(Enum):
    """How one test ended. Only PASSED means that set-up, call and tear-down all passed with no xfail mark in play."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"

    @property
    def failing(self) -> bool:
        return self in (Outcome.FAILED, Outcome.ERROR)


class Way(Enum):
    """How a candidate was brought before the tests, fastest first."""

    SWAP = "swap"  # code objects replaced in a process that has collected the tests
    RECOLLECT = "recollect"  # pytest preloaded, the project imported and collected anew
    COLD = "cold"  # a new interpreter in a fresh sandbox


class Oracle(Enum):
    """What a verdict rests on."""

    EVENTS = "events"
    EXIT_CODE = "exit code"  # the weaker proof


@dataclass(frozen=True)
class Frame:
    """One traceback entry in a repository file; `path` posix and relative to the root, `line` from 1."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class TestReport:
    """One test of the baseline. All text is bounded and free of control characters.

    `frames` go from the outermost to the innermost; `lines` maps a repository file to the lines that the test ran
    (empty when coverage was not taken); `seconds` is the whole of set-up, call and tear-down, without tracing.
    A test file that could not be collected stands here too, under its path, with `collected` False.
    """

    __test__ = False

    node: str
    outcome: Outcome
    seconds: float = 0.0
    error: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    output: str = ""
    collected: bool = True
    timed_out: bool = False
    flaky: bool = False
    needs_network: bool = False
    missing_module: str = ""

    @property
    def path(self) -> str:
        return self.node.partition("::")[0]


@dataclass(frozen=True)
class Baseline:
    """The suite before any patch. `tests` keeps the order in which pytest ran them."""

    tests: Mapping[str, TestReport]
    seconds: float
    oracle: Oracle = Oracle.EVENTS
    test_files: tuple[str, ...] = ()
    """The files that hold the tests, whatever their names, or that a test command runs as tests: a change may not touch
    them. Files of doctests are not among them: these stand in the code that is to be repaired."""

    @property
    def failing(self) -> tuple[str, ...]:
        """Tests that fail each time they are run, and files that cannot be collected."""
        return tuple(n for n, test in self.tests.items() if test.outcome.failing and not test.flaky)

    @property
    def passing(self) -> tuple[str, ...]:
        return tuple(n for n, test in self.tests.items() if test.outcome is Outcome.PASSED and not test.flaky)

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(n for n, test in self.tests.items() if test.flaky)

    @property
    def collection_errors(self) -> tuple[TestReport, ...]:
        return tuple(test for test in self.tests.values() if not test.collected)

    @property
    def missing_modules(self) -> tuple[str, ...]:
        return tuple(sorted({test.missing_module for test in self.tests.values() if test.missing_module}))

    def covering(self, path: str, lines: Sequence[int] = ()) -> tuple[str, ...]:
        """Tests that ran one of `lines` of `path` (any line when none is given)."""
        wanted = frozenset(lines)
        return tuple(
            node
            for node, test in self.tests.items()
            if (ran := test.lines.get(path)) and (not wanted or not wanted.isdisjoint(ran))
        )


@dataclass(frozen=True)
class Trial:
    """A candidate before the chosen tests, up to the first that fails. A filter, not a proof.

    `frames` are those of the failure, as in TestReport: the search reads from them how far into the test it came.
    `stale`: what the old code made while the tests were collected was still there, so that a failure proves little.
    """

    outcomes: Mapping[str, Outcome]
    passed: bool
    way: Way
    seconds: float
    failed_at: str = ""
    error: str = ""
    message: str = ""
    timed_out: bool = False
    frames: tuple[Frame, ...] = ()
    stale: bool = False


@dataclass(frozen=True)
class Verdict:
    """The whole suite on a patch, cold, in a fresh sandbox, `repeats` times.

    `fixed` failed before and passed in every repeat; `unfixed` are those of the wanted tests that did not;
    `broken` passed (or were skipped, or xfailed) before and did not do so in some repeat; `flaky` tests count
    for nothing. `dishonest` lists why the change itself was refused; `problem` says what was wrong with the run.
    """

    fixed: tuple[str, ...] = ()
    unfixed: tuple[str, ...] = ()
    still_passing: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    repeats: int = 0
    dishonest: tuple[str, ...] = ()
    problem: str = ""
    oracle: Oracle = Oracle.EVENTS
    level: Level = Level.NONE
    seconds: float = 0.0

    @property
    def honest(self) -> bool:
        return not self.dishonest

    @property
    def passed(self) -> bool:
        return self.honest and not self.problem and bool(self.fixed) and not self.unfixed and not self.broken

    def summary(self) -> str:
        """One line for people."""
        if self.dishonest:
            return "refused: " + "; ".join(self.dishonest)
        if self.problem:
            return "not proved: " + self.problem
        if self.broken:
            return f"not proved: {_count(self.broken, 'test')} that passed before {_verb(self.broken)} now"
        if self.unfixed or not self.fixed:
            return f"not proved: {_count(self.unfixed, 'test')} still {_verb(self.unfixed)}"
        return self._proof()

    def _proof(self) -> str:
        sandbox = "without a sandbox" if self.level is Level.NONE else "in a fresh sandbox"
        times = {1: "once", 2: "twice"}.get(self.repeats, f"{self.repeats} times")
        if self.oracle is Oracle.EXIT_CODE:
            return f"the test command now exits with 0 (the weaker proof), confirmed {times} {sandbox}"
        passes = "passes" if len(self.fixed) == 1 else "pass"
        text = f"{_count(self.fixed, 'failing test')} now {passes}"
        if self.still_passing:
            others = (
                "1 other still passes"
                if len(self.still_passing) == 1
                else f"{len(self.still_passing)} others still pass"
            )
            text += f", {others}"
        return f"{text}, confirmed {times} {sandbox}"


class Tester(Protocol):
    """What proves patches: a TestSession (events), or a CommandSession (exit code)."""

    def baseline(self, nodes: Sequence[str] = (), progress: Progress | None = None) -> Baseline: ...

    def trial(self, files: Mapping[str, str], nodes: Sequence[str], hasty: bool = False, probes: int = 0) -> Trial: ...

    def confirm(self, files: Mapping[str, str], repeats: int = 1, targets: Sequence[str] = ()) -> Verdict: ...

    def close(self) -> None: ...


class Progress(Protocol):
    """Told of each test as it ends; `total` is 0 while it is not known."""

    def __call__(self, done: int, total: int, node: str, outcome: Outcome) -> None: ...


def _count(nodes: Sequence[str], noun: str) -> str:
    return f"{len(nodes)} {noun}{'' if len(nodes) == 1 else 's'}"


def _verb(nodes: Sequence[str]) -> str:
    return "fails" if len(nodes) == 1 else "fail"


def relative(path: str) -> str:
    """A change's path in the one form that reports and working copies use. Raises ValueError when it leads outside."""
    clean = PurePosixPath(path)
    if clean.is_absolute() or ".." in clean.parts or not clean.parts:
        raise ValueError(f"not a path inside the repository: {path}")
    return str(clean)

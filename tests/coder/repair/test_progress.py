from __future__ import annotations

from dataclasses import replace

from coder.repair.progress import PROBED, Course, Progress
from sandbox.testing.report import Baseline, Frame, Oracle, Outcome, TestReport, Trial, Way


def failing(name: str, seconds: float, error: str, lines: set[int], *frames: Frame) -> TestReport:
    place = Frame("t.py", 5, name)
    return TestReport(
        f"t.py::{name}", Outcome.FAILED, seconds, error, "no", (place, *frames), {"m.py": frozenset(lines)}
    )


BROKE = Frame("m.py", 3, "f")
REPORTS = [
    failing("slow", 0.5, "AssertionError", {1, 2}),
    failing("quick", 0.1, "AssertionError", {1, 2}),
    failing("broke", 0.2, "TypeError", {1, 2, 3}, BROKE),
    failing("elsewhere", 0.3, "AssertionError", {1, 7, 8, 9}),
]
BASELINE = Baseline({report.node: report for report in REPORTS}, 1.0)
COURSE = Course(BASELINE, tuple(BASELINE.tests), {"m.py"})


def trial(failed_at: str, *frames: Frame, passed: tuple[str, ...] = ()) -> Trial:
    outcomes = dict.fromkeys(passed, Outcome.PASSED) | {failed_at: Outcome.FAILED}
    return Trial(outcomes, False, Way.SWAP, 0.0, failed_at, frames=frames)


def test_the_quickest_failing_test_is_joined_by_those_that_fail_otherwise() -> None:
    assert COURSE.probes(0) == ["t.py::quick", "t.py::broke", "t.py::elsewhere"]
    assert COURSE.probes(PROBED) == ["t.py::quick"]


def test_tests_that_fail_alike_need_one_probe() -> None:
    alike = Baseline({report.node: report for report in REPORTS[:2]}, 1.0)
    assert Course(alike, tuple(alike.tests), {"m.py"}).probes(0) == ["t.py::quick"]


def test_a_test_that_passes_or_comes_further_or_fails_by_itself_is_progress() -> None:
    alone = Baseline({REPORTS[2].node: REPORTS[2]}, 1.0)
    course = Course(alone, tuple(alone.tests), {"m.py"})
    here, further = Frame("t.py", 5, "broke"), Frame("t.py", 6, "broke")
    assert course.start == Progress(0, 5, False)
    assert course.reached(trial("t.py::broke", here, BROKE)) == course.start
    assert course.reached(trial("t.py::broke", here)) > course.start
    assert course.reached(trial("t.py::broke", further, BROKE)) > course.start
    assert COURSE.reached(trial("t.py::quick", here, passed=("t.py::broke",))) > COURSE.start


def test_only_a_command_is_judged_by_all_the_files_that_it_runs() -> None:
    here, helper = Frame("t.py", 5, "broke"), Frame("more.py", 90, "check")
    alone = Baseline({REPORTS[2].node: REPORTS[2]}, 1.0, test_files=("t.py", "more.py"))
    course = Course(alone, tuple(alone.tests), {"m.py"})
    assert course.reached(trial("t.py::broke", here, helper)).line == 5
    command = replace(alone, oracle=Oracle.EXIT_CODE)
    course = Course(command, tuple(command.tests), {"m.py"})
    assert course.reached(trial("t.py::broke", here, helper)).line == 90


def test_code_that_breaks_at_a_later_line_is_progress_within_the_code() -> None:
    alone = Baseline({REPORTS[2].node: REPORTS[2]}, 1.0)
    course = Course(alone, tuple(alone.tests), {"m.py"})
    here = Frame("t.py", 5, "broke")
    later = course.reached(trial("t.py::broke", here, Frame("m.py", 4, "f")))
    assert course.start.inside == (3,) and later.inside == (4,)
    assert later.beyond(course.start) and not course.start.beyond(later)
    # An edit above that has added a line, and a call that breaks inside, are none.
    moved = course.reached(trial("t.py::broke", here, Frame("m.py", 4, "f")), lambda path, line: line - 1)
    deeper = course.reached(trial("t.py::broke", here, BROKE, Frame("m.py", 9, "g")))
    assert not moved.beyond(course.start) and not deeper.beyond(course.start)
    assert course.reached(trial("t.py::broke", here)).beyond(later)

from __future__ import annotations

import pytest

from sandbox.contract import Level
from sandbox.testing.pace import Pace
from sandbox.testing.report import Baseline, Outcome, TestReport, Verdict, relative


@pytest.mark.parametrize(
    ("verdict", "passed", "text"),
    [
        (
            Verdict(fixed=("a", "b", "c"), still_passing=tuple("x" * 214), repeats=2, level=Level.BWRAP_USER),
            True,
            "3 failing tests now pass, 214 others still pass, confirmed twice in a fresh sandbox",
        ),
        (Verdict(fixed=("a",), repeats=1), True, "1 failing test now passes, confirmed once without a sandbox"),
        (Verdict(fixed=("a",), broken=("b",), repeats=1), False, "not proved: 1 test that passed before fails now"),
        (Verdict(unfixed=("a", "b"), repeats=1), False, "not proved: 2 tests still fail"),
        (Verdict(fixed=("a",), unfixed=("b",), repeats=1), False, "not proved: 1 test still fails"),
        (Verdict(fixed=("a",), dishonest=("x",)), False, "refused: x"),
        (Verdict(fixed=("a",), problem="lost"), False, "not proved: lost"),
    ],
)
def test_summary(verdict: Verdict, passed: bool, text: str) -> None:
    assert verdict.passed is passed
    assert verdict.summary() == text


def report(node: str, outcome: Outcome, seconds: float, **more: bool) -> TestReport:
    return TestReport(node, outcome, seconds, **more)


def pace(*reports: TestReport) -> Pace:
    return Pace(Baseline({one.node: one for one in reports}, sum(one.seconds for one in reports)))


def test_time_limits() -> None:
    some = pace(
        report("a.py::quick", Outcome.PASSED, 0.001),
        report("a.py::slow", Outcome.PASSED, 0.5),
        report("a.py::fails", Outcome.FAILED, 0.01),
        report("b.py::fails", Outcome.FAILED, 0.2),
        report("b.py::loops", Outcome.FAILED, 20.0, timed_out=True),
    )
    assert some.of("a.py::quick") == 0.3
    assert some.of("a.py::slow") == pytest.approx(5.0)
    assert some.of("a.py::fails") == pytest.approx(2.505)  # the median of its file
    assert some.of("b.py::fails") == pytest.approx(2.505)  # the median of the suite
    assert some.of("b.py::loops") == pytest.approx(2.505)
    assert some.of("a.py::slow", slack=2) == pytest.approx(10.0)


def test_one_slow_test_does_not_buy_its_time_for_those_that_loop() -> None:
    quick = [report(f"a.py::quick{number}", Outcome.PASSED, 0.001) for number in range(5)]
    some = pace(*quick, report("a.py::slow", Outcome.PASSED, 1.0), report("a.py::fails", Outcome.FAILED, 0.01))
    assert some.of("a.py::fails") == pytest.approx(1.5)
    assert some.of("a.py::slow") == pytest.approx(10.0)


def test_time_limit_where_nothing_passes() -> None:
    assert pace(report("a.py::loops", Outcome.FAILED, 20.0, timed_out=True)).of("a.py::loops") == pytest.approx(1.0)


def test_relative() -> None:
    assert relative("./a//b.py") == "a/b.py"
    for path in ("/a", "a/../../b", "", "."):
        with pytest.raises(ValueError, match="not a path"):
            relative(path)

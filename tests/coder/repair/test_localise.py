from __future__ import annotations

import math

import pytest

from coder.repair.localise import INNERMOST, TRACEBACK, hints, localise, ochiai
from coder.repair.source import Source
from sandbox.testing.report import Baseline, Frame, Outcome, TestReport

TEXT = """\
RATE = 2


def good(x):
    return x


def bad(x):
    y = x * RATE
    if y:
        return y
    return 0
"""


def baseline(*reports: TestReport) -> Baseline:
    return Baseline({report.node: report for report in reports}, 1.0)


def report(name: str, outcome: Outcome, lines: set[int] = frozenset(), frames: tuple[Frame, ...] = ()) -> TestReport:  # type: ignore[assignment]
    return TestReport(f"t.py::{name}", outcome, frames=frames, lines={"m.py": frozenset(lines)} if lines else {})


@pytest.mark.parametrize(("ef", "ep", "f", "value"), [(1, 0, 1, 1.0), (1, 3, 1, 0.5), (0, 5, 1, 0.0), (2, 2, 4, 2 / 4)])
def test_ochiai(ef: int, ep: int, f: int, value: float) -> None:
    assert math.isclose(ochiai(ef, ep, f), value)


def test_the_function_that_only_failing_tests_run_comes_first() -> None:
    tests = baseline(
        report("fails", Outcome.FAILED, {5, 9, 10, 11}),
        report("passes", Outcome.PASSED, {5}),
        report("other", Outcome.PASSED, {9, 10, 12}),
    )
    found = localise(tests, ["t.py::fails"], {"m.py": Source("m.py", TEXT)})
    names = [suspicion.function.name if suspicion.function else "" for suspicion in found]
    assert names == ["bad", "good", ""]
    assert found[0].score == 1.0
    assert max(found[0].lines, key=lambda line: found[0].lines[line]) == 11
    # RATE is read by a suspicious function, and only there is an edit of the top level worth anything.
    assert set(found[2].lines) == {1}


def test_the_traceback_breaks_ties() -> None:
    lines = {5, 9, 10, 11}
    frames = (Frame("t.py", 3, "fails"), Frame("m.py", 9, "bad"))
    failing = report("fails", Outcome.FAILED, lines, frames)
    found = localise(baseline(failing), ["t.py::fails"], {"m.py": Source("m.py", TEXT)})
    assert found[0].function is not None and found[0].function.name == "bad"
    assert found[0].lines[9] > found[0].lines[10]


def test_many_failing_tests_do_not_raise_a_line_of_their_tracebacks_without_bound() -> None:
    frames = (Frame("m.py", 5, "good"), Frame("m.py", 9, "bad"))
    failing = [report(f"fails{number}", Outcome.FAILED, {5, 9, 10, 11}, frames) for number in range(20)]
    nodes = [test.node for test in failing]
    found = localise(baseline(*failing), nodes, {"m.py": Source("m.py", TEXT)})
    scores = {line: score for suspicion in found for line, score in suspicion.lines.items()}
    assert math.isclose(scores[9] / scores[10], INNERMOST)
    assert math.isclose(scores[5] / scores[10], TRACEBACK)


def test_without_coverage_the_functions_of_the_traceback_are_suspicious() -> None:
    frames = (Frame("m.py", 9, "bad"),)
    found = localise(
        baseline(report("fails", Outcome.FAILED, set(), frames)), ["t.py::fails"], {"m.py": Source("m.py", TEXT)}
    )
    assert found[0].function is not None and found[0].function.name == "bad"
    assert set(found[0].lines) == set(range(8, 13))


def test_with_nothing_at_all_what_the_test_names_comes_first() -> None:
    found = localise(baseline(report("bad", Outcome.FAILED)), ["t.py::bad"], {"m.py": Source("m.py", TEXT)})
    assert found[0].function is not None and found[0].function.name == "bad"
    assert len(found) == 3


def test_hints_are_constants_and_expected_exceptions_of_the_tests() -> None:
    text = "def test_it():\n    with pytest.raises(errors.TooBig):\n        f('mars', 3, True)\n"
    failing = TestReport("t.py::test_it", Outcome.FAILED, message="KeyError: 'venus'")
    found = hints([text], [failing])
    assert found.exceptions == ("TooBig",)
    assert found.numbers == (3,)
    assert set(found.strings) == {"mars", "venus"}

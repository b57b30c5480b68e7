"""From the events of a run to reports. Everything that comes from inside the jail is checked before it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandbox.testing.channel import Answer, Event, number_of, text_of
from sandbox.testing.report import Frame, Outcome, TestReport
from sandbox.text import clean

CANARIES = ("test_canary_must_fail",)
TEXT_LIMIT = 4000


def tests_of(answer: Answer) -> list[TestReport]:
    """Every test that ended, in order, the canaries among them; then the files that could not be collected."""
    reports = [_report(event) for event in answer.of("test")]
    return reports + [
        replace(_report(event), outcome=Outcome.ERROR, collected=False) for event in answer.of("uncollected")
    ]


def judging_files(answer: Answer) -> Iterator[str]:
    """The files of the tests that were collected, and of those that could not be."""
    for event in answer.of("collected"):
        files = event.get("files")
        for path in files if isinstance(files, list) else ():
            if isinstance(path, str):
                yield path
    for event in answer.of("uncollected"):
        if event.get("tests") is True:
            yield str(event.get("node")).partition("::")[0]


def is_canary(node: str) -> bool:
    return node.rpartition("::")[2] in CANARIES


def interrupted(answer: Answer) -> TestReport | None:
    """The test that was running when the child was killed or died; None when the child came to its end."""
    node = answer.done.get("running")
    if answer.done.get("ended") is True or not isinstance(node, str):
        return None
    timed_out = answer.done.get("timed_out") is not None
    message = "the test ran longer than its time limit" if timed_out else f"the test process died: {_death(answer)}"
    error = "TimeLimit" if timed_out else "ProcessDied"
    return TestReport(node, Outcome.FAILED, error=error, message=message, timed_out=timed_out)


def _death(answer: Answer) -> str:
    status = answer.done.get("status")
    if not isinstance(status, int):
        return "unknown status"
    return f"signal {status & 0x7F}" if status & 0x7F else f"exit code {status >> 8}"


def _report(event: Event) -> TestReport:
    try:
        outcome = Outcome(event.get("outcome"))
    except ValueError:
        outcome = Outcome.ERROR
    error = text_of(event, "error")
    return TestReport(
        node=str(event.get("node")),
        outcome=outcome,
        seconds=number_of(event, "seconds"),
        error=error,
        message=text_of(event, "message")[:TEXT_LIMIT],
        frames=tuple(_frames(event.get("frames"))),
        lines=dict(_lines(event.get("lines"))),
        output=text_of(event, "output")[-TEXT_LIMIT:],
        timed_out=error == "TimeLimit",
        needs_network=event.get("network") is True,
        missing_module=text_of(event, "missing"),
    )


def _frames(value: Any) -> Iterable[Frame]:
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], int):
            yield Frame(clean(str(entry[0])), entry[1], clean(str(entry[2])))


def _lines(value: Any) -> Iterable[tuple[str, frozenset[int]]]:
    for path, numbers in value.items() if isinstance(value, Mapping) else ():
        if isinstance(numbers, list):
            yield str(path), frozenset(number for number in numbers if isinstance(number, int))

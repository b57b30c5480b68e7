from __future__ import annotations

import pytest

from coder.patch import Proposal
from coder.repair.candidate import Base, Candidate
from coder.repair.complaint import ARGUMENTS, BROKE, NAMED, Complaint, complaint, complaints
from coder.repair.edits import propose
from coder.repair.rank import score
from sandbox.testing.report import Frame, Outcome, TestReport
from tests.coder.repair.helpers import region_of

TEXT = """\
def total(rows, rate):
    if not rows:
        raise ValueError("no 'rows'")
    kept = [row for row in rwos
            if row]
    return scaled(kept)
"""
REGION = region_of(TEXT)
SOURCES = {"module.py": REGION.source}


def frames(*lines: int) -> tuple[Frame, ...]:
    return (Frame("test_module.py", 3, "test"), *(Frame("module.py", line, "total") for line in lines))


def proposal(old: str, new: str, origin: str, line: int = 0) -> Proposal:
    for found in propose(REGION):
        edit = found.edits[0]
        if line and REGION.source.line_of(edit.span.start) != line:
            continue
        if found.origin == origin and (TEXT[edit.span.start : edit.span.end], edit.replacement) == (old, new):
            return found
    raise AssertionError(f"no edit from {old!r} to {new!r}")


def test_the_statement_that_broke_and_the_word_that_the_message_names() -> None:
    heard = complaint("NameError", "name 'rwos' is not defined", frames(4), SOURCES)
    assert heard == Complaint("module.py", 4, 5, frozenset({"rwos"}), False)
    assert heard.speaks_for(proposal("rwos", "rows", "identifier"), SOURCES) == BROKE + NAMED
    assert heard.speaks_for(proposal("row", "rate", "identifier"), SOURCES) == BROKE
    assert heard.speaks_for(proposal("kept", "rows", "identifier"), SOURCES) == 0.0


def test_a_message_about_arguments_speaks_for_edits_of_arguments() -> None:
    heard = complaint("TypeError", "scaled() missing 1 required positional argument: 'rate'", frames(6), SOURCES)
    assert heard is not None and heard.arguments and "scaled" in heard.words
    assert heard.speaks_for(proposal("", ", rate", "more arguments", 6), SOURCES) == BROKE + NAMED + ARGUMENTS


@pytest.mark.parametrize("lines", [(3,), (), (99,)])
def test_nothing_is_heard_of_what_the_code_raised_itself_or_what_broke_elsewhere(lines: tuple[int, ...]) -> None:
    assert complaint("ValueError", "no 'rows'", frames(*lines), SOURCES) is None


def test_each_complaint_counts_by_the_share_of_the_tests_that_make_it() -> None:
    broke = TestReport("t.py::a", Outcome.FAILED, error="NameError", message="name 'rwos' is…", frames=frames(4))
    wrong = TestReport("t.py::b", Outcome.FAILED, error="AssertionError", message="1 != 2", frames=frames())
    heard = complaints([broke, wrong], SOURCES)
    assert list(heard.values()) == [0.5]
    fix = proposal("rwos", "rows", "identifier")
    plain, told = (Candidate(Base(SOURCES, complaints=each), fix, 1.0) for each in ({}, heard))
    assert score(told) - score(plain) == (BROKE + NAMED) / 2

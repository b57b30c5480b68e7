"""What commands say to people: plain text, whatever was quoted in it."""

from __future__ import annotations

import pytest

from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from tests.coder.cli.harness import Terminal

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mtext\x1b[0m\x9b1A\x08"


@pytest.fixture
def environment() -> Environment:
    """A terminal without colours: no escape sequence is the program's own."""
    return Environment(Terminal("y\n"), Terminal(), Terminal(), {"TERM": "dumb"})


def _told(environment: Environment) -> str:
    assert isinstance(environment.stderr, Terminal)
    return environment.stderr.getvalue()


def test_nothing_that_is_quoted_steers_the_terminal(environment: Environment) -> None:
    environment.tell(f"a {EVIL}")
    environment.report(Failure(ExitStatus.MODEL_FAILED, f"b {EVIL}", f"c {EVIL}"))
    assert environment.ask(f"d {EVIL}?", {"y": "yes", "n": "no"}) == "y"
    assert _told(environment) == "a text\nerror: b text\nc text\nd text? [y]es / [n]o: "


def test_lines_and_brackets_stay_and_no_emoji_comes(environment: Environment) -> None:
    environment.tell("a.py:100: x\n[bold]y")
    environment.output.print("b.py:100: x", markup=False)
    assert _told(environment) == "a.py:100: x\n[bold]y\n"
    assert isinstance(environment.stdout, Terminal) and environment.stdout.getvalue() == "b.py:100: x\n"


def test_the_terminals_own_style_is_the_one_that_its_variables_allow(environment: Environment) -> None:
    coloured = Environment(Terminal(), Terminal(), Terminal(), {"TERM": "xterm"})
    for one in (environment, coloured):
        one.report(Failure(ExitStatus.USAGE, "x"))
    assert "\x1b[" in _told(coloured) and "\x1b[" not in _told(environment)

"""What reaches a terminal of what others wrote, and what a pipe."""

from __future__ import annotations

import io
import re

import pytest

from coder.cli.block_view import BlockView
from coder.cli.display import Display, print_diff
from coder.environment import Environment
from coder.events import Notice
from coder.exit_status import ExitStatus
from coder.failure import Failure
from model.decoding.request import Settled
from tests.coder.cli.harness import Terminal

EVIL = "\x1b]0;owned\x07 \x1b[2J\x9b8mtext\u202e"
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-x = 1\r\n+x = 1  # \x1b]0;\r\n+y = 2\r\n"


def environment(stream: type[io.StringIO], typed: str = "") -> Environment:
    return Environment(stdin=stream(typed), stdout=stream(), stderr=stream(), variables={})


def seen(stream: object) -> str:
    """What was written, without rich's own colours."""
    assert isinstance(stream, io.StringIO)
    return re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue())


def test_a_diff_in_a_pipe_is_byte_for_byte() -> None:
    here = environment(io.StringIO)
    print_diff(here, DIFF)
    assert seen(here.stdout) == DIFF


def test_a_diff_on_a_terminal_hides_nothing() -> None:
    here = environment(Terminal)
    print_diff(here, DIFF)
    shown = seen(here.stdout)
    assert "\x1b" not in shown and "+x = 1  # \\x1b]0;" in shown and "+y = 2" in shown


def test_what_people_are_told_has_no_control_characters() -> None:
    here = environment(Terminal, "y\n")
    here.tell(f"told {EVIL}")
    here.report(Failure(ExitStatus.USAGE, f"failed {EVIL}", f"hint {EVIL}"))
    assert here.ask(f"asked {EVIL}", {"y": "yes", "n": "no"}) == "y"
    with Display(here) as display:
        display(Notice(f"noted {EVIL}"))
    shown = seen(here.stderr)
    for word in "told", "failed", "hint", "asked", "noted":
        assert word in shown
    assert not re.search("\x1b\\]|\x1b\\[2J|[\x07\x9b\u202e]", shown)


@pytest.mark.parametrize(("stream", "written"), [(io.StringIO, EVIL), (Terminal, " text")])
def test_a_result_is_as_it_is_unless_a_terminal_would_obey_it(stream: type[io.StringIO], written: str) -> None:
    here = environment(stream)
    here.write(EVIL)
    assert seen(here.stdout) == written


def test_what_people_are_told_is_no_markup() -> None:
    here = environment(Terminal)
    here.tell("`xs[a:b:c]` and [/] and [bold]")
    here.output.print("xs[a:b:c]", markup=False)
    assert "`xs[a:b:c]` and [/] and [bold]" in seen(here.stderr) and "xs[a:b:c]" in seen(here.stdout)


def test_blocks_that_are_watched() -> None:
    view = BlockView(None)
    view.take(Settled((1,), f"x = 1  # {EVIL}\n"))
    assert view.__rich__().plain == "x = 1  #  text\n"

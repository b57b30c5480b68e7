"""Events as lines: one each, without what looks like a token."""

from __future__ import annotations

import io
import json

import pytest

from coder import events
from coder.agent.events import Called, Handover
from coder.cli.json_lines import JsonLines

TOKEN = "AKIAABCDEFGHIJKLMNOP"


def _line(event: events.Event) -> str:
    stream = io.StringIO()
    JsonLines(stream)(event)
    assert stream.getvalue().count("\n") == 1
    return stream.getvalue()


@pytest.mark.parametrize("before", ["", "\t", "\n", "\r\n", "\x1b[0m ", '"', "\\ "])
def test_a_token_is_taken_out_whatever_stands_before_it(before: str) -> None:
    line = _line(events.Notice(f"key{before or ' '}{TOKEN}\tend"))
    assert TOKEN not in line and json.loads(line)["message"] == f"key{before or ' '}[redacted]\tend"


def test_it_is_taken_out_of_all_that_an_event_holds() -> None:
    called = Called(1, "write", {"path": "a", "lines": ["x\t" + TOKEN, {"y\n" + TOKEN: TOKEN}], "count": 3})
    line = _line(called)
    assert TOKEN not in line
    assert json.loads(line)["arguments"] == {
        "path": "a", "lines": ["x\t[redacted]", {"y\n[redacted]": "[redacted]"}], "count": 3,
    }  # fmt: skip
    handover = Handover(("a",), f"+\t{TOKEN}\n", {f"b {TOKEN}": "left"}, ({"argv": ("echo", TOKEN)},), "")
    assert TOKEN not in _line(handover)


def test_an_event_without_tokens_is_as_it_was() -> None:
    assert json.loads(_line(events.Applied("000001", ("a.py", "b.py")))) == {
        "type": "applied", "entry": "000001", "paths": ["a.py", "b.py"], "commit": "",
    }  # fmt: skip

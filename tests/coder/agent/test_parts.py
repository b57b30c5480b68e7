"""Parts of the agent by themselves."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Annotated

import pytest

from coder.agent import route
from coder.agent.account import records
from coder.agent.approvals import Answer, Approvals, Ask, Request
from coder.agent.inside import _version
from coder.agent.observation import bounded
from coder.agent.schema import Unfit, build, schema_of
from coder.agent.tools import TOOLS
from coder.agent.trajectory import Saved, Trajectory
from coder.agent.workspace import _mode
from model.chat import Message, Tool, ToolCall
from model.decoding.grammar import Grammar
from model.schema import calls_schema
from tests.model.toy import ByteTokenizer


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ("find all files larger than 10 MB", "shell"),
        ("Count the lines of each *.py file", "shell"),
        ("how do I list hidden files?", "shell"),
        ("fix the failing tests", "fix"),
        ("make the test suite pass", "fix"),
        ("please debug the failing test in a.py", "fix"),
        ("run the tests of cart.py and fix the failures", "fix"),
        ("the tests are red, fix them", "fix"),
        ("I need the broken tests repaired, so repair this", "fix"),
        ("how do I fix the failing tests?", "fix"),
        ("make the tests in tests/test_a.py pass", "fix"),
        ("make a zip archive of the tests folder", "shell"),
        ("make a copy of all files under tests", "shell"),
        ("find files named fix.py under tests", "shell"),
        ("count debug lines in tests", "shell"),
        ("list the lines with repair or bugfix in tests/a.txt", "shell"),
        ("delete the debug folder inside the tests directory", "shell"),
        ("fix the permissions of the tests folder", "shell"),
        ("copies all *.html files under src to the folder pages", "shell"),
        ("count the files that contain a class Cart", "shell"),
        ("install the packages mysql and mysql-server", "shell"),
        ("trim the white space of every line in a.txt", "shell"),
        ("write a class for carts to cart.py", "agent"),
        ("explain how the cart works", "agent"),
        ("add a test for cart.py", "agent"),
        ("make the cart faster", "agent"),
        ("what files are larger than 1 MB?", "shell"),
        ("write a function that parses dates", "agent"),
        ("create a page about the project", "agent"),
        ("rename the class Cart to Basket everywhere", "edit"),
        ("rename the parameter x to y in scale in cart.py", "edit"),
        ("complete the function total so that the tests pass", "edit"),
        ("rename cart.py to basket.py", "shell"),
        ("rename files to lowercase", "shell"),
        ("rename the directory to backup", "shell"),
        ("rename the variable x to y in foo.py", "agent"),
        ("add a docstring to every function", "agent"),
    ],
)
def test_route(request_, kind) -> None:
    assert route(request_) == kind


@dataclass(frozen=True)
class Sample:
    """A sample."""

    name: Annotated[str, "what it is called"]
    words: tuple[str, ...] = ()
    count: int = 3


def test_a_dataclass_is_a_schema_and_back() -> None:
    schema = schema_of(Sample)
    assert schema["required"] == ["name"] and schema["properties"]["name"]["description"] == "what it is called"
    assert build(Sample, {"name": "x", "words": ["a"]}) == Sample("x", ("a",))
    for bad in ({}, {"name": 1}, {"name": "x", "other": 1}, {"name": "x", "words": [1]}):
        with pytest.raises(Unfit):
            build(Sample, bad)


def test_every_tool_has_a_schema_that_local_models_can_follow() -> None:
    offered = [Tool(name, kind.__doc__, schema_of(kind)) for name, kind in TOOLS.items()]
    guide = Grammar.json_schema(ByteTokenizer(), calls_schema(offered, True)).guide(400)
    assert not guide.complete


def test_long_text_keeps_its_ends() -> None:
    text = bounded("a" * 100 + "b" * 100, 60)
    assert text.startswith("a" * 40) and text.endswith("b" * 20) and "140 characters" in text


def test_an_approval_ends_after_its_time(tmp_path, monkeypatch) -> None:
    asked = []

    def ask(request: Request) -> Answer:
        asked.append(request)
        return Answer(True, lasting=True)

    approve = Approvals(tmp_path, tmp_path, Ask.always, ask)
    run = Request("run", "ls", ["ls"])
    assert approve(run).allowed and approve(run).allowed and len(asked) == 1
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 40 * 86_400)
    assert approve(run).allowed and len(asked) == 2
    assert (tmp_path / "approvals.json").stat().st_mode & 0o077 == 0
    assert Approvals(tmp_path, tmp_path, Ask.never)(run).allowed
    assert not Approvals(tmp_path, tmp_path, Ask.never)(Request("server", "x", ["x"])).allowed


def test_a_step_that_was_cut_off_does_not_count(tmp_path) -> None:
    trajectory = Trajectory.create(tmp_path, "do it", tmp_path, "m")
    first = [Message("assistant", "", (ToolCall("list", {"folder": ""}, "c"),)), Message("tool", "files", (), "c")]
    trajectory.append(first, {"a": Saved(b"1", False, "")})
    with open(trajectory.folder / "log.jsonl", "ab") as log:
        log.write(b'{"messages": [], "files": {"a": {"ha')
    again = Trajectory.open(tmp_path, "1")
    assert [step.messages for step in again.steps()] == [tuple(first)]
    assert again.files() == {"a": Saved(b"1", False, "")}
    again.append([Message("user", "more")], {"a": Saved(None, False, "x")})
    assert len(again.steps()) == 2 and again.files()["a"].data is None
    assert trajectory.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("before", "executable", "after"),
    [(0o644, False, 0o644), (0o640, True, 0o750), (0o755, False, 0o644), (0o775, True, 0o775), (0o600, True, 0o700)],
)
def test_only_the_right_to_execute_changes(before, executable, after) -> None:
    assert _mode(before, executable) == after


def _account(*records) -> bytes:
    return b"".join(json.dumps({**fields, "size": len(data)}).encode() + b"\n" + data for fields, data in records)


def test_an_account_of_changes_is_taken_whole_or_not_at_all() -> None:
    file = {"kind": "file", "path": "a", "executable": True}, b"x\ny"
    assert list(records(_account(file, ({"kind": "end"}, b"")))) == [("file", "a", b"x\ny", True, "")]
    wrong = [b"", _account(file), b"{}\n", b"[1]\n", b"x" * 100_000, _account(({"kind": "many"}, b""))]
    wrong += [b'{"kind": "file", "path": "a", "size": 999}\n', b'{"kind": "file", "path": 1, "size": 0}\n']
    wrong += [b'{"kind": "file", "path": "a", "size": -1}\n']
    wrong += [b"[" * 10_000 + b"\n"]
    for account in wrong:
        with pytest.raises(ValueError):
            list(records(account))


def test_a_write_that_keeps_size_and_time_is_seen(tmp_path) -> None:
    import os

    path = tmp_path / "a"
    path.write_text("1")
    before = path.stat()
    time.sleep(0.02)
    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _version(path.stat()) != _version(before)

"""`coder fix` with a server that follows a script: whatever it answers, the right status, and nothing lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from coder.exit_status import ExitStatus
from tests.coder.cli.harness import Program
from tests.coder.repair.fakes import NODE, ScriptedTester, checks_of
from tests.model.test_endpoint import Script, failure, stream

CODE = "def f(words):\n    best = words\n    return best\n"
TEST = "from a import f\n\n\ndef test_it():\n    assert f(['b', 'a']) == 'a|b'\n"
FIXED = '    best = "|".join(sorted(words))\n'
EDIT = {"path": "a.py", "first": 2, "last": 2, "old": "    best = words", "new": FIXED}
JUDGE = checks_of(((["b", "a"],), "a|b"))


class Patient(Script):
    """Gives the last answer of the script again and again."""

    def do_POST(self) -> None:
        self.answers.append(self.answers[0] if len(self.answers) == 1 else None)
        if self.answers[-1] is None:
            self.answers.pop()
        super().do_POST()


def patch(**changes: Any) -> str:
    return json.dumps({"why": "joins the sorted words", "edits": [EDIT | changes]})


@pytest.fixture
def server() -> Iterator[tuple[str, type[Script]]]:
    script = type("OneScript", (Patient,), {"answers": [], "seen": []})
    http = ThreadingHTTPServer(("127.0.0.1", 0), script)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}/v1", script
    http.shutdown()
    http.server_close()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text(CODE)
    (folder / "test_it.py").write_text(TEST)
    return folder


@pytest.fixture
def fix(tmp_path, project, server):
    program = Program(tmp_path / "home", project)
    program.parts = {
        "find_sandbox": lambda sandboxed: program.sandbox,
        "make_tester": lambda sandbox, tree, request: program.tester,
    }
    from tests.coder.cli.harness import FakeSandbox

    program.sandbox, program.tester = FakeSandbox(), ScriptedTester("a.py", CODE, JUDGE)
    typed = ("fix", "--apply", "--timeout", "20", "--model", "m", "--endpoint", server[0])
    return lambda *more, **how: program(*typed, *more, **how)


def test_a_described_patch_is_proved_and_applied(fix, project, server) -> None:
    server[1].answers.append(stream({"content": patch()}))
    done = fix()
    assert done.status == ExitStatus.DONE, done.stderr
    assert (project / "a.py").read_text() == CODE.replace("    best = words\n", FIXED)
    sent = server[1].seen[0]["body"]
    asked = sent["messages"][-1]["content"]
    assert sent["model"] == "m" and "    2     best = words" in asked and TEST in asked and NODE in asked


@pytest.mark.parametrize(
    "answer",
    [
        [{"reasoning_content": "secretly " * 200}, {"content": patch()}],
        [{"content": "<think>secretly {'edits': 1}</think>\n" + patch()}],
        [{"content": "Sure! Here is the patch.\n```json\n"}, {"content": patch()}, {"content": "\n```\nsecretly {"}],
    ],
    ids=["thinking", "thinking in the text", "prose and a fence"],
)
def test_thinking_and_prose_are_no_part_of_the_patch(fix, project, server, answer) -> None:
    server[1].answers.append(stream(*answer))
    done = fix("--json")
    assert done.status == ExitStatus.DONE, done.events[-1]
    assert "secretly" not in next(event for event in done.events if event["type"] == "patch")["diff"]
    assert (project / "a.py").read_text() == CODE.replace("    best = words\n", FIXED)
    thinking = [event for event in done.events if event["type"] == "thinking"]
    assert all(set(event) == {"type", "model", "characters"} for event in thinking)
    assert bool(thinking) == ("reasoning_content" in answer[0])


def test_a_wrong_span_is_sent_back_once(fix, project, server) -> None:
    server[1].answers += [stream({"content": patch(first=3, last=3)}), stream({"content": patch()})]
    done = fix()
    assert done.status == ExitStatus.DONE, done.stderr
    first, second = (one["body"]["messages"] for one in server[1].seen[:2])
    assert second[: len(first)] == first and "lines 3 to 3 of a.py" in second[-1]["content"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (patch(first=3, last=3), "lines 3 to 3 of a.py are"),
        (patch(first=7, last=9), "has no lines 7 to 9"),
        (patch(path="../../outside.py"), "'../../outside.py' may not be edited"),
        (patch(path="/etc/passwd"), "'/etc/passwd' may not be edited"),
        (patch(path="test_it.py", first=5, last=5), "'test_it.py' may not be edited"),
        (patch(path=".git/hooks/pre-commit"), "may not be edited"),
        (patch(new="    best = words\n"), "changes nothing"),
        (json.dumps({"edits": [EDIT, EDIT]}), "two edits change the same lines"),
        (json.dumps({"edits": []}), "at least one edit"),
        (json.dumps({"edits": [{"path": "a.py"}]}), "an edit needs"),
        (patch() + patch(new="    best = 1\n"), "more than one patch"),
        ("I cannot help with that.", "no JSON object"),
        ("", "no JSON object"),
        (patch(new="    best = (words\n"), ""),
        (patch(new="    best = words[:1]\n"), ""),
    ],
)
def test_what_cannot_be_used_or_does_not_help_changes_nothing(fix, project, server, tmp_path, answer, told) -> None:
    server[1].answers.append(stream({"content": answer}))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = fix()
    assert done.status == ExitStatus.NOT_REPAIRED, done.stderr
    assert told in done.stderr
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert after == {path: data for path, data in before.items() if path.is_relative_to(project)}
    assert not (tmp_path / "outside.py").exists()


def test_a_server_that_cannot_be_used_is_said(fix, project, server) -> None:
    server[1].answers.append(failure(401, "no such key"))
    done = fix()
    assert done.status == ExitStatus.MODEL_FAILED and "no such key" in done.stderr and "--endpoint" in done.stderr
    assert (project / "a.py").read_text() == CODE


def test_tree_edits_repair_while_the_server_is_silent(fix, project, server, tmp_path) -> None:
    (project / "a.py").write_text(CODE.replace("words\n", "words[1]\n"))
    server[1].answers.append(stream({"content": "hm"}))
    program_judge = checks_of(((["b", "a"],), "b"))
    text = (project / "a.py").read_text()
    program = Program(tmp_path / "other", project)
    from tests.coder.cli.harness import FakeSandbox

    program.parts = {
        "find_sandbox": lambda sandboxed: FakeSandbox(),
        "make_tester": lambda sandbox, tree, request: ScriptedTester("a.py", text, program_judge),
    }
    done = program("fix", "--apply", "--timeout", "20", "--endpoint", server[0], "--model", "m")
    assert done.status == ExitStatus.DONE, done.stderr

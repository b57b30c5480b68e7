"""`coder do` without a server: what the embedded model does by itself, and what the result looks like."""

from __future__ import annotations

import pytest

from coder.exit_status import ExitStatus
from coder.shell.ask import Answer
from coder.shell.safety import Effect, Safety
from coder.shell.trial import Change, Outcome

TOKEN = "AKIAABCDEFGHIJKLMNOP"


def test_a_repair_goes_to_fix(coder, project) -> None:
    shown = coder("do", "fix the failing tests", "--dry-run", "--json")
    assert shown.status == 5 and [event["type"] for event in shown.events].count("result") == 1
    done = coder("do", "fix the failing tests", "--apply")
    assert done.status == 0, done.stderr
    assert b"max(x, 0)" in (project / "a.py").read_bytes()


def test_a_repair_gets_what_was_typed(coder, project) -> None:
    seen = []
    search = coder.parts["search"]
    coder.parts["search"] = lambda context, listener: seen.append(context.timeout_s) or search(context, listener)
    before = (project / "a.py").read_bytes()
    assert coder("do", "fix the failing tests", "--read-only", "--apply").status == 5
    assert (project / "a.py").read_bytes() == before
    assert coder("do", "fix the failing tests", "--timeout", "7", "--dry-run").status == 5
    assert seen == [120.0, 7.0]
    assert coder("do", "fix the failing tests", "--python", "nowhere").status == 2


def test_a_shell_question_goes_to_the_shell(coder, project, monkeypatch) -> None:
    asked = []

    def answer(question, environment, path, listener, *, as_json=False, apply=None):
        asked.append((question, path.resolve(), as_json, apply))
        return ExitStatus.NOT_FINISHED, "not known"

    monkeypatch.setattr("coder.shell.answer", answer)
    question = "list all files larger than 1 MB"
    assert coder("do", question).status == 11
    assert coder("do", question, "--apply", "--read-only").status == 11
    told = coder("do", question, "--apply", "--json")
    assert asked == [(question, project.resolve(), *rest) for rest in ((False, None), (False, False), (True, True))]
    (result,) = told.events
    assert (result["type"], result["exit_code"], result["message"]) == ("result", 11, "not known")


def test_other_requests_are_refused_with_what_would_help(coder) -> None:
    done = coder("do", "write a parser for dates", "--json")
    assert done.status == 9 and done.events[-1]["status"] == "model_failed"
    assert "--endpoint" in coder("do", "write a parser for dates").stderr
    assert coder("do", " ").status == 2


def test_a_project_sets_no_endpoint_before_it_is_trusted(coder, project) -> None:
    (project / "coder.toml").write_text('endpoint = "http://127.0.0.1:9/v1"\n')
    assert coder("do", "write a parser for dates").status == 7
    (project / "coder.toml").unlink()
    (project / ".env").write_text("CODER_ENDPOINT=http://127.0.0.1:9/v1\n")
    assert "--endpoint" in coder("do", "write a parser for dates").stderr


def _ends(done, status: int) -> None:
    assert done.status == status, done.stderr
    assert [event["type"] for event in done.events].count("result") == 1
    assert (done.events[-1]["type"], done.events[-1]["exit_code"]) == ("result", status)


def test_json_ends_with_a_result_whatever_happens(coder, project, monkeypatch) -> None:
    _ends(coder("do", " ", "--json"), 2)
    _ends(coder("do", "list the files", "nowhere", "--json"), 2)
    _ends(coder("do", "list the files", "--python", "nowhere", "--json"), 2)
    _ends(coder("tasks", "resume", "7", "--json"), 2)
    (project / "coder.toml").write_text("timeout = 7\n")
    _ends(coder("do", "list the files", "--json"), 7)
    (project / "coder.toml").unlink()

    def full(request):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coder.agent.route", full)
    done = coder("do", "list the files", "--json")
    _ends(done, 1)
    assert "the disk is full" in done.events[-1]["message"]
    monkeypatch.setattr("coder.agent.route", lambda request: 1 / 0)
    done = coder("do", "list the files", "--json")
    _ends(done, 1)
    assert "ZeroDivisionError" in done.stderr


def _answers(monkeypatch, *changes: Change, stdout: str = "", confidence: float = 0.6, effect=Effect.WRITES) -> None:
    """The shell answers `sed …`, which did that on the copy."""
    outcome = Outcome(0, stdout, "", changes, True)
    found = Answer("sed -i s/0/1/ a.py", "sed …", Safety(effect), (), outcome, confidence, (), True)
    monkeypatch.setattr("coder.shell.show.ask", lambda question, tree, parts: found)
    monkeypatch.setattr("sandbox.jail.Sandbox.detect", lambda *arguments: None)


def _edit(project) -> Change:
    mode = (project / "a.py").stat().st_mode
    return Change("a.py", mode, None, (project / "a.py").read_bytes().replace(b"0", b"1"))


QUESTION = "replace 0 by 1 in the file a.py"


@pytest.mark.parametrize(
    ("options", "answers", "status", "applied"),
    [
        (("--apply",), None, 0, True),
        ((), "a\n", 0, True),
        ((), "d\n", 5, False),
        ((), None, 5, False),
        (("--dry-run",), "a\n", 5, False),
        (("--read-only", "--apply"), None, 5, False),
    ],
)
def test_what_a_shell_command_changes_is_applied_when_somebody_says_so(
    coder, project, monkeypatch, options, answers, status, applied
) -> None:
    before = (project / "a.py").read_bytes()
    _answers(monkeypatch, _edit(project))
    done = coder("do", QUESTION, *options, answers=answers)
    assert done.status == status and done.stdout == "sed -i s/0/1/ a.py\n"
    assert ((project / "a.py").read_bytes() != before) is applied
    assert ("applied to a.py" in done.stderr) is applied and ("not applied (" in done.stderr) is not applied
    if applied:
        assert "do: sed -i s/0/1/ a.py" in coder("log").stdout
        assert coder("undo").status == 0 and (project / "a.py").read_bytes() == before


def test_what_cannot_be_taken_back_is_not_applied(coder, project, monkeypatch) -> None:
    (project / "empty").mkdir()
    _answers(monkeypatch, _edit(project), Change("empty", 0, None, None))
    done = coder("do", QUESTION, "--apply", "--json")
    _ends(done, 5)
    assert [event["type"] for event in done.events] == ["shell_answer", "rejected", "result"]
    assert "it removes the folder empty" in done.events[-1]["message"]
    assert b"min(x, 0)" in (project / "a.py").read_bytes()


def test_json_of_an_answer_holds_no_tokens(coder, project, monkeypatch) -> None:
    _answers(monkeypatch, Change("b.txt", 0o100644, None, f"{TOKEN}\n".encode()), stdout=f"a\t{TOKEN}\n")
    done = coder("do", QUESTION, "--apply", "--json")
    assert [event["type"] for event in done.events] == ["shell_answer", "applied", "result"]
    assert TOKEN not in done.stdout and done.events[0]["output"] == "a\t[redacted]\n"
    assert (project / "b.txt").read_text() == f"{TOKEN}\n"


def test_a_guess_is_called_one_and_nothing_that_it_prints_steers_the_terminal(coder, project, monkeypatch) -> None:
    evil = f"\x1b]0;owned\x07\x1b[2Jtext AKIA\x1b[0m{TOKEN[4:]}\n"
    change = Change("b.txt", 0o100644, None, evil.encode())
    _answers(monkeypatch, change, stdout=evil, confidence=0.3)
    for answers in (None, "d\n"):
        done = coder("do", QUESTION, answers=answers)
        assert "\x1b" not in done.stderr and "\x07" not in done.stderr and TOKEN not in done.stderr
        assert "  text [redacted]" in done.stderr and r"  +\x1b]0;owned\x07\x1b[2Jtext" in done.stderr
        assert "a guess, confidence 30%" in done.stderr
    _answers(monkeypatch, stdout="x\n", effect=Effect.READS)
    sure = coder("do", QUESTION)
    assert sure.status == 0 and "guess" not in sure.stderr and "confidence 60%" in sure.stderr

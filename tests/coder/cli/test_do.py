"""`coder do` without a server: what the embedded model does by itself, and what the result looks like."""

from __future__ import annotations

from coder.exit_status import ExitStatus


def test_a_repair_goes_to_fix(coder, project) -> None:
    shown = coder("do", "fix the failing tests", "--dry-run", "--json")
    assert shown.status == 5 and [event["type"] for event in shown.events].count("result") == 1
    done = coder("do", "fix the failing tests", "--apply")
    assert done.status == 0, done.stderr
    assert b"max(x, 0)" in (project / "a.py").read_bytes()


def test_a_shell_question_goes_to_the_shell(coder, project, monkeypatch) -> None:
    asked = []

    def answer(question, environment, path, *, as_json=False):
        asked.append((question, path.resolve(), as_json))
        return ExitStatus.NOT_FINISHED

    monkeypatch.setattr("coder.shell.answer", answer)
    assert coder("do", "list all files larger than 1 MB").status == 11
    assert asked == [("list all files larger than 1 MB", project.resolve(), False)]


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

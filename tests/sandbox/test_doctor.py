from __future__ import annotations

import io
import json

import pytest

from coder.cli.main import main
from coder.environment import Environment
from coder.exit_status import ExitStatus
from sandbox import doctor
from sandbox.contract import Level, SandboxUnavailable
from sandbox.hostile.behaviours import QUICK, Finding
from sandbox.jail import Sandbox


def run(*arguments: str) -> tuple[int, str, str]:
    environment = Environment(stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO(), variables={})
    status = main(["doctor", *arguments], environment)
    return status, environment.stdout.getvalue(), environment.stderr.getvalue()  # type: ignore[attr-defined]


def test_tries_to_escape_and_says_at_what_level(sandbox: Sandbox) -> None:
    report = doctor.examine_machine()
    assert report.level is sandbox.level
    assert [finding.number for finding in report.findings] == list(QUICK)
    assert report.sound


def test_names_what_the_second_rung_restricts(landlock_jail: Sandbox) -> None:
    report = doctor.examine_machine(Level.LANDLOCK)
    assert report.sound
    assert any("loopback" in restriction for restriction in report.restrictions)


def test_an_escape_is_not_sound() -> None:
    report = doctor.Report(Level.LANDLOCK, findings=(Finding(1, ()), Finding(9, ("secret read",))))
    assert [finding.number for finding in report.escapes] == [9]
    assert not report.sound


def test_the_command_shows_the_level(sandbox: Sandbox) -> None:
    status, shown, _ = run()
    assert status == ExitStatus.DONE
    assert sandbox.level.value in shown
    assert shown.count("held") == len(QUICK)
    status, shown, _ = run("--json")
    assert (status, json.loads(shown)["sound"], json.loads(shown)["level"]) == (0, True, sandbox.level.name)


def test_the_command_fails_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(force: Level | None = None) -> Sandbox:
        raise SandboxUnavailable("no sandbox works on this machine")

    monkeypatch.setattr(Sandbox, "detect", refuse)
    status, _, told = run()
    assert status == ExitStatus.NO_SANDBOX
    assert "no sandbox works" in told


def test_the_command_fails_when_an_escape_succeeds(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda jail, numbers: [Finding(1, ("connected",))])
    status, shown, told = run()
    assert status == ExitStatus.NO_SANDBOX
    assert "ESCAPED" in shown and "do not run untrusted code" in told

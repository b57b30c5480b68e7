"""The installed program on real projects: nothing is faked here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coder.exit_status import ExitStatus
from tests.coder.cli.harness import Program

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture
def timesheet(tmp_path):
    project = tmp_path / "timesheet"
    shutil.copytree(EXAMPLES / "timesheet", project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    return project


def test_an_example_is_repaired_and_the_repair_taken_back(timesheet, tmp_path):
    coder = Program(tmp_path / "home", timesheet)
    before = {path: path.read_bytes() for path in timesheet.rglob("*.py")}
    done = coder("fix", "--apply", "--no-model")
    assert done.status == ExitStatus.DONE, done.stderr
    assert "1 failing test now passes, 22 others still pass, confirmed twice in a fresh sandbox" in done.stderr
    changed = [path.name for path, data in before.items() if path.read_bytes() != data]
    assert changed == ["checks.py"]
    assert {path for path in timesheet.rglob("*") if path.suffix == ".pyc"} == set()
    assert coder("fix").status == ExitStatus.NOTHING_FAILING
    assert coder("undo").status == ExitStatus.DONE
    assert {path: path.read_bytes() for path in timesheet.rglob("*.py")} == before


def test_interrupted_it_leaves_nothing_behind(tmp_path):
    project, scratch = tmp_path / "project", tmp_path / "scratch"
    project.mkdir()
    scratch.mkdir()
    (project / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(60)\n")
    environment = {**os.environ, "TMPDIR": str(scratch), "XDG_STATE_HOME": str(tmp_path / "state")}
    program = subprocess.Popen(
        [sys.executable, "-c", "from coder.cli.main import run; run()", "fix", str(project)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    assert "sandbox" in program.stderr.readline()
    assert any(scratch.iterdir())
    program.send_signal(signal.SIGTERM)
    assert program.wait(timeout=60) == ExitStatus.INTERRUPTED
    assert "interrupted" in program.stderr.read()
    assert list(scratch.iterdir()) == []

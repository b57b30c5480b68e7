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


def test_javascript_is_repaired_by_the_exit_code_of_a_command(node, tmp_path):
    project = tmp_path / "parcels"
    shutil.copytree(EXAMPLES / "parcels", project)
    coder = Program(tmp_path / "home", project)
    done = coder("fix", "--apply", "--no-model", "--test-cmd", f"{node.program} test/run.js")
    assert done.status == ExitStatus.DONE, done.stderr
    assert "the test command now exits with 0 (the weaker proof), confirmed twice" in done.stderr
    assert "Math.max(parcel.weight, byRoom)" in (project / "src" / "parcel.js").read_text()


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


SCRIPT = "from cart import largest\n\nif largest([1, 3, 2]) != 3 or largest([5]) != 5:\n    raise SystemExit('wrong')\n"
LARGEST = """def largest(values):
    best = values[0]
    for value in values:
        if value < best:
            best = value
    return best
"""


def test_a_script_as_the_test_command(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "cart.py").write_text(LARGEST)
    (project / "check.py").write_text(SCRIPT)
    coder = Program(tmp_path / "home", project)
    done = coder("fix", "--apply", "--no-model", "--test-cmd", "python check.py")
    assert done.status == ExitStatus.DONE, done.stderr
    names = {}
    exec((project / "cart.py").read_text(), names)
    assert names["largest"]([2, 9, 4]) == 9
    assert (project / "check.py").read_text() == SCRIPT
    assert "exit" in done.stderr, "the weaker proof is named"
    again = coder("fix", "--no-model", "--test-cmd", "python check.py")
    assert again.status == ExitStatus.NOTHING_FAILING


CHECKS = "from cart import largest\n\n\ndef test_largest():\n    assert largest([1, 3, 2]) == 3\n"


def test_tests_that_pytest_would_not_find_by_itself(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "cart.py").write_text(LARGEST)
    (project / "checks.py").write_text(CHECKS)
    coder = Program(tmp_path / "home", project)
    lost = coder("fix", "--no-model")
    assert lost.status == ExitStatus.TESTS_NOT_RUN and "--test" in lost.stderr
    alone = coder("fix", "--dry-run", "--no-model", "--test", "checks.py")
    assert alone.status == ExitStatus.NOT_APPLIED and "1 failing test now passes, confirmed" in alone.stderr
    (project / "test_cart.py").write_text("import cart\n\n\ndef test_one():\n    assert cart.largest([5]) == 5\n")
    done = coder("fix", "--apply", "--no-model", "--test", "./checks.py::test_largest")
    assert done.status == ExitStatus.DONE, done.stderr
    assert "1 failing test now passes, 1 other still passes" in done.stderr
    names = {}
    exec((project / "cart.py").read_text(), names)
    assert names["largest"]([2, 9, 4]) == 9
    assert (project / "checks.py").read_text() == CHECKS
    wrong = coder("fix", "--no-model", "--test", "cart.py")
    assert wrong.status == ExitStatus.USAGE and "no test is named cart.py" in wrong.stderr


def test_a_reader_that_leaves_early_ends_it(timesheet, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch), "XDG_STATE_HOME": str(tmp_path / "state")}
    program = subprocess.Popen(
        [sys.executable, "-c", "from coder.cli.main import run; run()", "fix", "--json", "--no-model", str(timesheet)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None and program.stderr is not None
    assert '"start"' in program.stdout.readline()
    program.stdout.close()
    assert program.wait(timeout=60) == ExitStatus.INTERNAL_ERROR
    assert program.stderr.read() == "", "nobody reads it: nothing to say"
    assert list(scratch.iterdir()) == []

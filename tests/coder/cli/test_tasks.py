"""`coder tasks` where there is little to tell; whole tasks are in tests/coder/agent."""

from __future__ import annotations

import json

from coder.agent.trajectory import Saved, Trajectory
from coder.patch import sha256
from model.chat import Message


def test_without_tasks(coder) -> None:
    listed = coder("tasks", "list")
    assert listed.stdout == "" and "There are no tasks of this project" in listed.stderr
    assert coder("tasks", "list", "--json").stderr == ""
    assert coder("tasks", "show", "7").status == 2
    assert coder("tasks", "resume", "../../x").status == 2
    assert "no task" in coder("tasks", "show", "x").stderr


def test_show_compares_with_what_the_task_found(coder, project) -> None:
    (project / "run.sh").write_text("echo 1\n")
    (project / "run.sh").chmod(0o755)
    found = (project / "a.py").read_bytes()
    task = Trajectory.create(coder.home / "state", "change it", project.resolve(), "scripted")
    files = {
        "a.py": Saved(b"theirs\n", False, sha256(found)),
        "new.sh": Saved(b"echo new\n", True, ""),
        "run.sh": Saved(b"echo 2\n", True, sha256(b"echo 1\n")),
    }
    task.append([Message("assistant", "\x1b[2Jdone")], files)
    shown = coder("tasks", "show", "1")
    assert "+theirs" in shown.stdout and "-echo 1\n+echo 2\n" in shown.stdout
    assert shown.stdout.count(" mode ") == 1 and "new file mode 100755" in shown.stdout
    assert "changed since" not in shown.stderr and "\x1b" not in shown.stderr

    (project / "a.py").write_text("mine\n")
    (project / "new.sh").write_text("mine\n")
    (project / "run.sh").unlink()
    edited = coder("tasks", "show", "1")
    assert edited.stdout == "" and "changed since, so not in the diff: a.py, new.sh, run.sh" in edited.stderr
    assert json.loads(coder("tasks", "show", "1", "--json").stdout)["changed_since"] == ["a.py", "new.sh", "run.sh"]

    for name, saved in files.items():
        (project / name).write_bytes(saved.data or b"")
    applied = coder("tasks", "show", "1")
    assert applied.stdout == "" and "changed since" not in applied.stderr

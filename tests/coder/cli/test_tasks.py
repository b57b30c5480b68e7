"""`coder tasks` where there is little to tell; whole tasks are in tests/coder/agent."""

from __future__ import annotations


def test_without_tasks(coder) -> None:
    listed = coder("tasks", "list")
    assert listed.stdout == "" and "There are no tasks of this project" in listed.stderr
    assert coder("tasks", "list", "--json").stderr == ""
    assert coder("tasks", "show", "7").status == 2
    assert coder("tasks", "resume", "../../x").status == 2
    assert "no task" in coder("tasks", "show", "x").stderr

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coder.failure import Failure
from coder.repository.interpreter import find_python

OURS = Path(sys.executable)


def environment(folder: Path) -> Path:
    """Something that looks like a virtual environment; returns its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(OURS)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return python


def test_what_the_user_names_counts_before_all_else(tmp_path):
    environment(tmp_path / ".venv")
    named = environment(tmp_path / "other")
    for wanted in "other", "other/bin/python":
        assert find_python(tmp_path, tmp_path, wanted, {}) == named
    with pytest.raises(Failure, match="no interpreter"):
        find_python(tmp_path, tmp_path, "nowhere", {})


def test_the_active_environment_then_the_projects_then_ours(tmp_path):
    project, active = tmp_path / "project", tmp_path / "active"
    project.mkdir()
    assert find_python(project, project, "", {}) == OURS
    own = environment(project / "venv")
    assert find_python(project, project, "", {}) == own
    own = environment(project / ".venv")
    assert find_python(project, project, "", {}) == own
    python = environment(active)
    assert find_python(project, project, "", {"VIRTUAL_ENV": str(active)}) == python


def test_the_environment_that_coder_itself_runs_in_gives_way_to_the_projects(tmp_path, monkeypatch):
    project, ours = tmp_path / "project", tmp_path / "ours"
    project.mkdir()
    python = environment(ours)
    monkeypatch.setattr(sys, "prefix", str(ours))
    variables = {"VIRTUAL_ENV": str(ours)}
    assert find_python(project, project, "", variables) == python
    own = environment(project / ".venv")
    assert find_python(project, project, "", variables) == own


def test_a_workspace_keeps_its_environment_at_the_top(tmp_path):
    member = tmp_path / "top" / "packages" / "member"
    member.mkdir(parents=True)
    beyond = environment(tmp_path / ".venv")
    shared = environment(tmp_path / "top" / ".venv")
    assert find_python(member, member, "", {}) == OURS, "outside of a repository nothing above is the project's"
    (tmp_path / "top" / ".git").mkdir()
    assert find_python(member, member, "", {}) == shared != beyond
    own = environment(member / ".venv")
    assert find_python(member, member, "", {}) == own

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository import Repository, repository
from coder.repository.gate import Refused
from sandbox.working_copy import WorkingCopy


def put(root, *paths, text="x\n"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def git(root, *arguments):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_files_follow_nested_ignore_rules(tmp_path):
    put(
        tmp_path,
        "a.py",
        "build/out.txt",
        "keep.log",
        "drop.log",
        "sub/b.py",
        "sub/drop.log",
        "sub/only/c.txt",
        "sub/d.txt",
    )
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
    (tmp_path / "sub/.gitignore").write_text("!drop.log\n/d.txt\n")
    (tmp_path / ".coderignore").write_text("only/\n")
    assert Repository(tmp_path).files == (
        ".coderignore",
        ".gitignore",
        "a.py",
        "keep.log",
        "sub/.gitignore",
        "sub/b.py",
        "sub/drop.log",
    )


def test_secrets_are_neither_listed_nor_read_nor_copied(tmp_path):
    put(
        tmp_path,
        "a.py",
        ".env",
        "conf/prod.env",
        ".env.example",
        "deploy/server.key",
        "tests/certs/server.key",
        ".ssh/config",
        "id_rsa",
    )
    project = Repository(tmp_path)
    assert project.files == (".env.example", "a.py", "tests/certs/server.key")
    assert project.runtime_files == project.files
    for path in ".env", "conf/prod.env", "deploy/server.key", ".ssh/config":
        with pytest.raises(Refused):
            project.read(path)


def test_generated_modules_are_for_the_tests_only(tmp_path):
    put(tmp_path, "a.py", "pkg/_version.py", "pkg/fast.so", "pkg.egg-info/PKG-INFO", "notes.txt")
    (tmp_path / ".gitignore").write_text("_version.py\n*.so\n*.egg-info\nnotes.txt\n")
    project = Repository(tmp_path)
    assert project.files == (".gitignore", "a.py")
    assert set(project.runtime_files) - set(project.files) == {
        "pkg/_version.py",
        "pkg/fast.so",
        "pkg.egg-info/PKG-INFO",
    }
    with pytest.raises(Refused):
        project.read("pkg/_version.py")


def test_environments_and_caches_are_skipped(tmp_path):
    put(tmp_path, "a.py", "node_modules/x.js", "__pycache__/a.pyc", "odd/pyvenv.cfg", "odd/lib/x.py", ".git/config")
    assert Repository(tmp_path).runtime_files == ("a.py",)


def test_symbolic_links_are_copied_as_links_but_never_read(tmp_path):
    put(tmp_path, "a.py")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "folder").symlink_to("/etc")
    project = Repository(tmp_path)
    assert project.files == ("a.py",)
    assert project.runtime_files == ("a.py", "folder", "link.py")
    for path in "link.py", "folder/passwd":
        with pytest.raises(Refused):
            project.read(path)


def test_a_tracked_file_counts_even_when_ignored_and_rules_above_hold(tmp_path):
    put(tmp_path, "inner/a.py", "inner/data.log", "inner/other.log", "inner/x.tmp")
    (tmp_path / ".gitignore").write_text("*.log\n/inner/x.tmp\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "inner/data.log")
    project = Repository(tmp_path / "inner")
    assert project.files == ("a.py", "data.log")
    assert project.read("data.log").data == b"x\n"


def test_names_that_cannot_be_printed_are_for_the_tests_only(tmp_path):
    put(tmp_path, "a.py", "tests/data/no\u00a0break.txt", "tests/new\nline/x.txt")
    with open(os.fsencode(tmp_path) + b"/tests/\xff.txt", "w") as file:
        file.write("x\n")
    (tmp_path / ".coderignore").write_text("*.txt\n")
    assert Repository(tmp_path).runtime_files == (".coderignore", "a.py")
    (tmp_path / ".coderignore").unlink()
    project = Repository(tmp_path)
    assert project.files == ("a.py",)
    assert set(project.runtime_files) - set(project.files) == {
        "tests/data/no\u00a0break.txt",
        "tests/new\nline/x.txt",
        "tests/\udcff.txt",
    }
    with WorkingCopy.of(project.root, project.runtime_files) as tree:
        assert all((tree.root / path).read_text() == "x\n" for path in project.runtime_files)


@pytest.mark.parametrize("place", ["named", "default"])
def test_what_the_user_ignores_everywhere_is_not_read(tmp_path, monkeypatch, place):
    home, root = tmp_path / "home", tmp_path / "project"
    put(root, "a.py", "a.log", "kept.log", "inner/b.log")
    git(root, "init", "-q")
    (root / ".gitignore").write_text("!kept.log\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    put(home, ".config/git/ignore" if place == "default" else "mine", text="*.log\n")
    if place == "named":
        put(home, ".gitconfig", text="[core]\n\texcludesFile = ~/mine\n")
    assert Repository(root).files == (".gitignore", "a.py", "kept.log")
    assert Repository(root / "inner").files == ()
    (root / ".git").rename(root / "gone")
    assert "a.log" in Repository(root).files, "without git nothing of its counts but .gitignore"


def test_a_repository_names_no_file_of_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = tmp_path / "project"
    put(root, "a.py")
    git(root, "init", "-q")
    git(root, "config", "core.excludesFile", "/dev/zero")
    assert Repository(root).files == ("a.py",)


def test_not_a_project(tmp_path):
    put(tmp_path, "a.py")
    for path, message in (
        (tmp_path / "none", "does not exist"),
        (tmp_path / "a.py", "is a file"),
        (Path("/"), "is not a project"),
    ):
        with pytest.raises(Failure, match=message) as caught:
            Repository.open(path)
        assert caught.value.status is ExitStatus.USAGE


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(repository, "TOO_MANY_FILES", 3)
    put(tmp_path, *(f"{number}.py" for number in range(4)))
    with pytest.raises(Failure, match="more than 3 files") as caught:
        _ = Repository(tmp_path).files
    assert ".coderignore" in caught.value.hint


def test_git_runs_nothing_that_a_repository_configures(tmp_path, monkeypatch):
    put(tmp_path, "a.py", "b.py")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "first")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(trap))
    git(tmp_path, "config", "diff.external", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    repo = Repository(tmp_path).git
    assert repo.tracked() == ("a.py",)
    (tmp_path / "a.py").write_text("changed\n")
    assert repo.modified(["a.py", "b.py"]) == ("a.py", "b.py")
    assert not (tmp_path / "sprung").exists()
    assert "GIT_DIR" not in os.environ


def test_commit_takes_only_the_named_files_and_honours_hooks(tmp_path):
    put(tmp_path, "inner/a.py", "inner/b.py")
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "n")
    git(tmp_path, "config", "user.email", "e@example.org")
    git(tmp_path, "add", "inner/a.py")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "inner/a.py").write_text("new\n")
    git(tmp_path, "add", "inner/b.py")
    repo = Repository(tmp_path / "inner").git
    short = repo.commit(["a.py"], "Fix: --all\n\nwhy")
    assert git(tmp_path, "log", "-1", "--format=%h %s").split(" ", 1) == [short, "Fix: --all"]
    assert git(tmp_path, "show", "--name-only", "--format=", "HEAD") == "inner/a.py"
    assert git(tmp_path, "diff", "--cached", "--name-only") == "inner/b.py"
    hook = tmp_path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho no way >&2\nexit 1\n")
    hook.chmod(0o755)
    (tmp_path / "inner/a.py").write_text("newer\n")
    with pytest.raises(Failure, match="no way"):
        repo.commit(["a.py"], "Fix")


def test_no_git(tmp_path):
    put(tmp_path, "a.py")
    assert Repository(tmp_path).git is None

"""What a command did on the copy, done to the user's files: regular files, unchanged since, and nothing by halves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coder.failure import Conflict
from coder.journal import Journal
from coder.shell.apply import CannotApply, planned
from coder.shell.tree import Tree
from coder.shell.trial import Change, Outcome

FILE, FOLDER = 0o100644, 0o040755


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "empty").mkdir()
    for path in ("src/a.py", "src/b.py", "notes.txt"):
        (root / path).write_text(f"{path}\n")
        (root / path).chmod(0o644)
    (root / "link").symlink_to("notes.txt")
    (root / ".env").write_text("KEY=1\n")
    (root / ".coderignore").write_text("private/\n")
    return root


def _outcome(*changes: Change, code: int = 0, complete: bool = True) -> Outcome:
    return Outcome(code, "", "", changes, complete)


def _new(path: str, text: str = "new\n", mode: int = FILE) -> Change:
    return Change(path, mode, None, text.encode())


def _gone(path: str) -> Change:
    return Change(path, 0, None, None)


def test_files_are_made_changed_moved_and_removed_and_all_of_it_taken_back(project: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.rglob("*.*") if path.is_file()}
    outcome = _outcome(
        Change("d", FOLDER, None, None), Change("d/e", FOLDER, None, None), _new("d/e/c.sh", mode=0o100755),
        _gone("notes.txt"), _new("src/a.py", "changed\n"), Change("src/b.py", 0o100600, None, b"src/b.py\n"),
    )  # fmt: skip
    journal = Journal(project, tmp_path / "state")
    journal.apply(planned(outcome, Tree.read(project)), "do: x")
    assert (project / "d/e/c.sh").stat().st_mode & 0o777 == 0o755 and not (project / "notes.txt").exists()
    assert (project / "src/a.py").read_text() == "changed\n"
    assert (project / "src/b.py").stat().st_mode & 0o777 == 0o600
    journal.undo()
    assert {path.name: path.read_bytes() for path in project.rglob("*.*") if path.is_file()} == before
    assert not (project / "d").exists() and (project / "src/b.py").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (_outcome(_new("x"), code=1), "failed on the copy"),
        (_outcome(_new("x"), complete=False), "too many files"),
        (_outcome(_new("x"), _gone("empty")), "removes the folder empty"),
        (_outcome(_new("x"), Change("src", 0o040700, None, None)), "permissions of the folder src"),
        (_outcome(_new("x"), Change("y", FOLDER, None, None)), "the empty folder y"),
        (_outcome(Change("notes.txt", FOLDER, None, None), _new("notes.txt/x")), "a folder of the file notes.txt"),
        (_outcome(_new("x"), Change("l", 0o120777, "notes.txt", None)), "no regular file"),
        (_outcome(_new("x"), Change("p", 0o010644, None, None)), "no regular file"),
        (_outcome(_new("x"), _gone("link")), "symbolic link"),
        (_outcome(_new("x"), Change("big", FILE, None, None)), "too large"),
        (_outcome(_new("x", mode=0o104755)), "special permissions"),
        (_outcome(_new("private/x")), "hides private/x"),
        (_outcome(_new("src/.netrc")), "hides src/.netrc"),
        (_outcome(_new("notes.txt", "notes.txt\n")), "nothing but times"),
    ],
)
def test_what_the_journal_cannot_take_back_is_not_planned(project: Path, outcome: Outcome, why: str) -> None:
    with pytest.raises(CannotApply, match=why):
        planned(outcome, Tree.read(project))


@pytest.mark.parametrize(
    ("edit", "outcome"),
    [
        (lambda root: (root / "notes.txt").write_text("mine\n"), _outcome(_new("notes.txt"))),
        (lambda root: (root / "notes.txt").unlink(), _outcome(_new("notes.txt"))),
        (lambda root: (root / "notes.txt").chmod(0o600), _outcome(_gone("notes.txt"))),
        (lambda root: (root / "new.txt").write_text("mine\n"), _outcome(_new("new.txt"))),
        (lambda root: None, _outcome(_new(".env"))),
        (lambda root: os.link(root / "notes.txt", root / "twin"), _outcome(_new("notes.txt"))),
    ],
)
def test_a_file_that_is_not_what_was_copied_is_a_conflict(
    project: Path, edit: Callable[[Path], object], outcome: Outcome
) -> None:
    tree = Tree.read(project)
    edit(project)
    with pytest.raises(Conflict):
        planned(outcome, tree)


def test_git_is_out_of_reach(project: Path) -> None:
    with pytest.raises(Conflict):
        planned(_outcome(_new(".git/hooks/pre-commit")), Tree.read(project))


def test_a_part_of_the_files_is_not_enough(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coder.shell.tree._FILES", 2)
    with pytest.raises(CannotApply, match="only part of the files"):
        planned(_outcome(_new("x")), Tree.read(project))

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure
from coder.journal import Journal, journal_of, recover_all
from coder.patch import Change, Version
from coder.repository.gate import Refused
from tests.coder.faults import Counting, Crash, fault_everywhere, kill_midway, make_tree, snapshot


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def ramdisk(tmp_path):
    """A folder in memory where there is one: thousands of small trees come and go in it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture
def journal(root, tmp_path):
    return Journal(root, tmp_path / "state")


def edit(root, path, old, new):
    before = Version((root / path).read_bytes(), stat.S_IMODE((root / path).stat().st_mode))
    return Change(path, before, Version(before.data.replace(old, new), before.mode))


def test_apply_undo_redo(root, journal):
    changes = make_tree(root, 10)
    before = snapshot(root)
    entry = journal.apply(changes, "ten files")
    after = snapshot(root)
    assert after != before
    assert (root / "package0/module0.py").stat().st_mode & 0o777 == 0o755
    assert b"valeur = 0\r\n" in (root / "package0/module0.py").read_bytes()
    assert not (root / "package1/module4.py").exists()
    assert [(e.id, e.state, e.note) for e in journal.entries()] == [(entry.id, "done", "ten files")]
    assert journal.undo().state == "undone"
    assert snapshot(root) == before
    assert [e.state for e in journal.entries()] == ["undone"]
    journal.redo()
    assert snapshot(root) == after


def test_undo_goes_back_step_by_step_and_apply_forgets_what_was_undone(root, journal):
    (root / "a.py").write_text("1\n")
    for old, new in (b"1", b"2"), (b"2", b"3"):
        journal.apply([edit(root, "a.py", old, new)], f"to {new.decode()}")
    journal.undo()
    journal.undo()
    assert (root / "a.py").read_text() == "1\n"
    journal.redo()
    journal.apply([edit(root, "a.py", b"2", b"9")], "to 9")
    assert [entry.note for entry in journal.entries()] == ["to 2", "to 9"]
    with pytest.raises(Conflict, match="nothing to redo"):
        journal.redo()


def test_an_interrupted_change_that_was_all_there_is_done_and_ends_what_could_be_redone(root, journal, tmp_path):
    (root / "a.py").write_text("1\n")
    journal.apply([edit(root, "a.py", b"1", b"2")], "to 2")
    journal.undo()
    system = Counting()
    broken = Journal(root, tmp_path / "state", system)
    real_save = broken.ledger.save

    def save(index):
        if index.pending is None:
            raise Crash
        real_save(index)

    broken.ledger.save = save
    with pytest.raises(Crash):
        broken.apply([edit(root, "a.py", b"1", b"3")], "to 3")
    (recovery,) = recover_all(tmp_path / "state")
    assert recovery.finished and "was finished" in str(recovery)
    assert [(entry.note, entry.state) for entry in journal.entries()] == [("to 3", "done")]
    assert (root / "a.py").read_text() == "3\n"


def test_only_the_latest_changes_are_kept(root, journal, tmp_path, monkeypatch):
    monkeypatch.setattr("coder.journal.KEPT", 3)
    (root / "a.py").write_text("0\n")
    for number in range(1, 6):
        journal.apply([edit(root, "a.py", str(number - 1).encode(), str(number).encode())], f"to {number}")
    assert [entry.note for entry in journal.entries()] == ["to 3", "to 4", "to 5"]
    assert sorted(path.name for path in journal.ledger.folder.glob("0*")) == ["000003", "000004", "000005"]


def test_undo_of_nothing(journal):
    with pytest.raises(Conflict, match="nothing to undo") as caught:
        journal.undo()
    assert caught.value.status is ExitStatus.CONFLICT


def test_undo_of_nothing_leaves_nothing_behind(journal, tmp_path):
    for step in journal.undo, journal.redo:
        with pytest.raises(Conflict, match="nothing to"):
            step()
    assert not (tmp_path / "state").exists()


def test_the_journal_of_a_folder_in_a_project_is_that_of_the_project(root, journal, tmp_path):
    state, inner = tmp_path / "state", root / "src" / "deep"
    inner.mkdir(parents=True)
    assert journal_of(inner, state).root == inner
    journal.apply([Change("new.py", None, Version(b"x\n"))], "")
    assert journal_of(inner, state).root == journal_of(root, state).root == root
    assert journal_of(root / "not there", state).root == root / "not there"
    Journal(inner, state).apply([Change("own.py", None, Version(b"x\n"))], "")
    assert journal_of(inner, state).root == inner
    Journal(inner, state).undo()
    assert journal_of(inner, state).root == inner, "what could be redone is there"


def test_another_repository_is_another_project_wherever_it_lies(root, journal, tmp_path):
    journal.apply([Change("new.py", None, Version(b"x\n"))], "")
    (root / "vendored/.git").mkdir(parents=True)
    (root / "vendored/src").mkdir()
    for inner in root / "vendored", root / "vendored/src":
        assert journal_of(inner, tmp_path / "state").root == inner


def test_the_journal_of_a_project_that_is_gone_is_dropped_in_time(root, journal, tmp_path):
    journal.apply([Change("new.py", None, Version(b"x\n"))], "")
    index = journal.ledger.folder / "index.json"
    os.utime(index, (0, 0))
    assert list(recover_all(tmp_path / "state")) == [] and index.exists()
    shutil.rmtree(root)
    os.utime(index)
    assert list(recover_all(tmp_path / "state")) == [] and index.exists(), "perhaps its drive is not there today"
    os.utime(index, (0, 0))
    assert list(recover_all(tmp_path / "state")) == []
    assert not journal.ledger.folder.exists()


def test_an_empty_journal_of_no_project_is_dropped(root, tmp_path):
    for folder in root, tmp_path / "never":
        Journal(folder, tmp_path / "state").ledger.create()
    assert list(recover_all(tmp_path / "state")) == []
    assert [path.read_bytes() for path in (tmp_path / "state").rglob("root")] == [os.fsencode(root)]


def test_a_change_that_is_still_to_be_finished_is_never_dropped(root, journal, tmp_path):
    changes = make_tree(root, 3)
    broken = Journal(root, tmp_path / "state", Counting(fail_at=_calls(root, tmp_path, changes) - 12, kind="crash"))
    with pytest.raises(Crash):
        broken.apply(changes, "")
    root.rename(tmp_path / "elsewhere")
    os.utime(journal.ledger.folder / "index.json", (0, 0))
    assert list(recover_all(tmp_path / "state")) == []
    (tmp_path / "elsewhere").rename(root)
    assert len(list(recover_all(tmp_path / "state"))) == 1


def test_a_file_that_changed_since_is_a_conflict_and_nothing_is_written(root, journal):
    (root / "a.py").write_text("a\n")
    (root / "b.py").write_text("b\n")
    changes = [edit(root, "a.py", b"a", b"A"), edit(root, "b.py", b"b", b"B")]
    (root / "b.py").write_text("mine\n")
    before = snapshot(root)
    with pytest.raises(Conflict, match=r"changed since: b\.py"):
        journal.apply(changes, "")
    assert snapshot(root) == before
    journal.apply(changes[:1], "")
    (root / "a.py").write_text("mine\n")
    with pytest.raises(Conflict, match=r"a\.py"):
        journal.undo()
    assert (root / "a.py").read_text() == "mine\n"


def test_a_created_file_never_overwrites_one(root, journal):
    (root / "new.py").write_text("already here\n")
    with pytest.raises(Conflict):
        journal.apply([Change("new.py", None, Version(b"x"))], "")
    assert (root / "new.py").read_text() == "already here\n"


def test_undo_leaves_a_folder_that_is_in_use(root, journal):
    journal.apply([Change("new/a.py", None, Version(b"x"))], "")
    (root / "new/mine.txt").write_text("mine")
    journal.undo()
    assert [path.name for path in (root / "new").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../a.py", "a/../b.py", "./a.py", "a//b.py", "", ".git/config", ".GIT/hooks/x", "sub/.Git/config",
     ".git./config", ".g\u200cit/config", "git~1/config", "a\0b"],
)  # fmt: skip
def test_forbidden_paths(root, journal, path):
    with pytest.raises(Refused):
        journal.apply([Change(path, None, Version(b"x"))], "")
    assert list(root.iterdir()) == []


def test_links_are_refused(root, journal, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("a\n")
    (root / "folder").symlink_to(outside)
    (root / "link.py").symlink_to(outside / "a.py")
    (root / "one.py").write_text("a\n")
    os.link(root / "one.py", root / "two.py")
    os.mkfifo(root / "pipe")
    for path in "folder/a.py", "link.py", "two.py", "pipe":
        with pytest.raises(Refused):
            journal.apply([Change(path, Version(b"a\n"), Version(b"b\n"))], "")
    with pytest.raises(Refused):
        journal.apply([Change("folder/new.py", None, Version(b"b\n"))], "")
    assert sorted(path.name for path in outside.iterdir()) == ["a.py"]


def test_the_journal_is_private(root, journal, tmp_path):
    journal.apply(make_tree(root, 3), "")
    for path in (tmp_path / "state").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_running_change_is_not_recovered_by_another(root, journal, tmp_path):
    changes = make_tree(root, 3)
    broken = Journal(root, tmp_path / "state", Counting(fail_at=_calls(root, tmp_path, changes) - 12, kind="crash"))
    with pytest.raises(Crash):
        broken.apply(changes, "")
    with journal.ledger.lock(0.0):
        assert list(recover_all(tmp_path / "state")) == []
    assert len(list(recover_all(tmp_path / "state"))) == 1


def test_recovery_leaves_files_alone_that_were_edited_since(root, journal, tmp_path):
    changes = make_tree(root, 3)
    before = snapshot(root)
    broken = Journal(root, tmp_path / "state", Counting(fail_at=_calls(root, tmp_path, changes) - 12, kind="crash"))
    with pytest.raises(Crash):
        broken.apply(changes, "")
    (root / "package0/module0.py").write_text("mine\n")
    (recovery,) = recover_all(tmp_path / "state")
    assert recovery.foreign == ("package0/module0.py",)
    assert "left alone" in str(recovery)
    assert (root / "package0/module0.py").read_text() == "mine\n"
    assert {k: v for k, v in snapshot(root).items() if k != "package0/module0.py"} == {
        k: v for k, v in before.items() if k != "package0/module0.py"
    }


def _calls(root, tmp_path, changes):
    """How many system calls the whole change makes. The tree is as before afterwards."""
    system = Counting()
    journal = Journal(root, tmp_path / "count", system)
    journal.apply(changes, "")
    count = system.count
    journal.undo()
    return count


@pytest.mark.parametrize(
    "direction, kind",
    [("apply", kind) for kind in ("error", "late", "full", "crash", "torn")]
    + [("undo", "error"), ("undo", "crash"), ("redo", "crash")],
)
def test_a_fault_at_any_system_call_leaves_the_tree_whole(ramdisk, direction, kind):
    assert fault_everywhere(ramdisk, kind, direction, files=5) > 60


def test_a_full_disk_and_a_read_only_one_are_named(root, tmp_path):
    changes = make_tree(root, 3)
    with pytest.raises(Failure, match="the disk is full") as caught:
        Journal(root, tmp_path / "state", Counting(20, "full")).apply(changes, "")
    assert "Free some space" in caught.value.hint
    system = Counting()
    real_open = system.open

    def read_only(name, flags, *arguments, **keywords):
        if flags & os.O_CREAT and str(name).startswith(".coder-"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real_open(name, flags, *arguments, **keywords)

    system.open = read_only
    with pytest.raises(Failure, match="nothing was changed: the disk is read-only"):
        Journal(root, tmp_path / "state", system).apply(changes, "")


@pytest.mark.slow
def test_two_hundred_kills(ramdisk):
    assert sum(kill_midway(ramdisk / f"{number}", files=50, seed=number) for number in range(200)) > 100

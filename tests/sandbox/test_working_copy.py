from __future__ import annotations

import os
import signal
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from sandbox.working_copy import BadPath, WorkingCopy


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "package").mkdir(parents=True)
    (root / "package/module.py").write_bytes(b"x = 1\r\n")
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o4700)
    (root / "link").symlink_to("package/module.py")
    (root / "outside").symlink_to("/etc/passwd")
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".git/hooks/x").write_text("hook")
    return root


def names(copy: WorkingCopy) -> set[str]:
    return {str(path.relative_to(copy.root)) for path in copy.root.rglob("*")}


def test_copies_the_named_files_and_no_others(repository: Path) -> None:
    with WorkingCopy.of(repository, ["package/module.py", "run"]) as copy:
        assert names(copy) == {"package", "package/module.py", "run"}
        assert (copy.root / "package/module.py").read_bytes() == b"x = 1\r\n"
        assert (copy.root / "package/module.py").stat().st_mtime_ns == (
            repository / "package/module.py"
        ).stat().st_mtime_ns
    assert not copy.base.exists()


def test_modes_are_made_plain(repository: Path) -> None:
    with WorkingCopy.of(repository, ["package/module.py", "run"]) as copy:
        assert stat.S_IMODE((copy.root / "run").stat().st_mode) == 0o755
        assert stat.S_IMODE((copy.root / "package/module.py").stat().st_mode) == 0o644
        assert stat.S_IMODE(copy.base.stat().st_mode) == 0o700


def test_links_stay_links(repository: Path) -> None:
    with WorkingCopy.of(repository, ["link", "outside"]) as copy:
        assert os.readlink(copy.root / "link") == "package/module.py"
        assert os.readlink(copy.root / "outside") == "/etc/passwd"


def test_git_and_what_is_no_file_is_left_out(repository: Path) -> None:
    os.mkfifo(repository / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(repository / "socket"))
        files = [".git/hooks/x", "package/.GIT/config", "pipe", "socket", "vanished", "run"]
        with WorkingCopy.of(repository, files) as copy:
            assert names(copy) == {"run"}


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", "."])
def test_paths_that_lead_outside_are_refused(repository: Path, path: str) -> None:
    with pytest.raises(BadPath):
        WorkingCopy.of(repository, [path])
    with WorkingCopy.of(repository, []) as copy, pytest.raises(BadPath):
        copy.write(path, "x")


def test_nothing_is_copied_through_a_linked_directory(repository: Path) -> None:
    (repository / "linked").symlink_to("package")
    with pytest.raises(BadPath, match="linked"):
        WorkingCopy.of(repository, ["linked/module.py"])


def test_nothing_is_written_through_a_link(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (repository / "linked").symlink_to(tmp_path / "victim")
    with WorkingCopy.of(repository, ["linked", "outside"]) as copy:
        for path in ("linked/x", "linked/deeper/x", ".git/config"):
            with pytest.raises(BadPath):
                copy.write(path, "harm")
        copy.write("outside", "mine")
        assert not (copy.root / "outside").is_symlink()
    assert not list((tmp_path / "victim").iterdir())
    assert "mine" not in Path("/etc/passwd").read_text()


def test_writing_replaces_and_keeps_the_execute_bit(repository: Path) -> None:
    with WorkingCopy.of(repository, ["run"]) as copy:
        copy.write("run", b"\xff\x00")
        copy.write("new/deep/file", "text")
        assert (copy.root / "run").read_bytes() == b"\xff\x00"
        assert os.access(copy.root / "run", os.X_OK)
        assert (copy.root / "new/deep/file").read_text() == "text"
        copy.remove("new/deep/file")
        assert not (copy.root / "new/deep/file").exists()


def test_forks_are_independent(repository: Path) -> None:
    with WorkingCopy.of(repository, ["run", "package/module.py"]) as copy, copy.fork() as twin:
        twin.write("run", "changed")
        copy.write("package/module.py", "changed")
        assert (copy.root / "run").read_text() == "#!/bin/sh\n"
        assert (twin.root / "package/module.py").read_bytes() == b"x = 1\r\n"
    assert (repository / "run").read_text() == "#!/bin/sh\n"


def test_a_copy_that_nobody_closes_goes_with_the_object(repository: Path) -> None:
    copy = WorkingCopy.of(repository, ["run"])
    base = copy.base
    assert base.exists()
    del copy
    assert not base.exists()


def test_copies_of_killed_processes_are_swept_and_living_ones_stay(
    repository: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        _held = WorkingCopy.of(repository, ["run"])
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.glob("coder-*")
    with WorkingCopy.of(repository, ["run"]) as living:
        assert not left.exists()
        with WorkingCopy.of(repository, ["run"]), living.fork():
            assert names(living) == {"run"}
    assert not list(tmp_path.glob("coder-*"))

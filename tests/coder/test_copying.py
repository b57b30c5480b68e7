from __future__ import annotations

import pytest

from coder import copying
from coder.copying import copied
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository import Repository
from sandbox.contract import Limits
from sandbox.working_copy import WorkingCopy


def test_a_project_that_no_sandbox_takes_is_refused_before_it_is_copied(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    with open(tmp_path / "data/huge.bin", "wb") as file:
        file.truncate(Limits().tree)  # without a block on disk
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(WorkingCopy, "of", lambda root, files: pytest.fail("it was copied"))
    with pytest.raises(Failure, match="does not fit in the sandbox: its files take 1,024 of 1,024 MiB") as caught:
        copied(Repository(tmp_path), pytest.fail)
    assert caught.value.status is ExitStatus.TESTS_NOT_RUN
    assert ".coderignore" in caught.value.hint and "data/ (1,024 MiB)" in caught.value.hint
    (tmp_path / ".coderignore").write_text("data/\n")
    monkeypatch.undo()
    with copied(Repository(tmp_path), pytest.fail) as tree:
        assert {path.name for path in tree.root.iterdir()} == {"a.py", ".coderignore"}


def test_many_files_are_worth_a_word(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    monkeypatch.setattr(copying, "MANY_FILES", 1)
    told: list[str] = []
    copied(Repository(tmp_path), told.append).close()
    assert len(told) == 1 and "copying 2 files" in told[0]

"""What is judged is what is handed over, and within the time that there is."""

from __future__ import annotations

import os
import time

import pytest

from coder.agent import verdict
from coder.agent.verdict import Verdict
from tests.coder.agent.scripted import call, calls, finish

TEST = "from pkg.a import one\n\n\ndef test_one():\n    assert one() == 1\n"


def configure(coder, command: str) -> None:
    (coder.home / "config").mkdir(parents=True)
    (coder.home / "config" / "config.toml").write_text(f"test_command = {command!r}\n")


def shell(script: str) -> dict:
    return call("run", argv=["sh", "-c", script])


def test_what_is_left_out_makes_no_test_pass(coder) -> None:
    """The module that the change needs is ignored, so it is there for the task and not for the user."""
    (coder.project / ".gitignore").write_text("made.py\n")
    (coder.project / "test_a.py").write_text(TEST)
    before = coder.tree()
    script = [
        shell("echo 'def one(): return 1' > made.py; echo 'from made import one' > pkg/a.py"),
        call("test"),
        finish("moved it"),
    ]
    done = coder.do("move it", "--apply", script=script)
    assert "1 passed, 0 failed" in coder.server.results()[-1]
    assert done.status == 5 and "left out: made.py" in done.stderr
    assert "test_a.py::test_one" in done.stderr and "passed before" in done.stderr
    assert coder.tree() == before


def test_a_file_of_the_project_that_is_left_out_keeps_apply_from_applying(coder, tmp_path) -> None:
    os.link(coder.project / "notes.txt", tmp_path / "elsewhere.txt")
    before = coder.tree()
    both = calls(("write", {"path": "notes.txt", "text": "new\n"}), ("write", {"path": "new.txt", "text": "1\n"}))
    done = coder.do("write", "--apply", script=[call("read", path="notes.txt"), both, finish()])
    assert done.status == 5 and coder.tree() == before
    assert "left out: notes.txt" in done.stderr and "what became of notes.txt cannot be handed over" in done.stderr
    alone = coder.do("write", "--apply", script=[shell("echo new > notes.txt"), finish()])
    assert alone.status == 5 and "left out: notes.txt" in alone.stderr and coder.tree() == before


@pytest.mark.parametrize(
    "script", ["rm notes.txt; mkdir notes.txt; echo 1 > notes.txt/a", "rm -r pkg; echo 1 > pkg"], ids=["folder", "file"]
)
def test_what_took_the_place_of_files_of_the_project_is_missed(coder, script) -> None:
    before = coder.tree()
    done = coder.do("move", "--apply", script=[shell(script), finish()])
    assert done.status == 5 and "cannot be handed over" in done.stderr
    assert coder.tree() == before


def test_what_is_left_out_beside_the_project_is_not_missed(coder) -> None:
    (coder.project / ".gitignore").write_text("build/\n")
    (coder.project / "test_a.py").write_text(TEST)
    script = [shell("mkdir build; echo o > build/out; echo '# more' >> pkg/a.py"), finish()]
    done = coder.do("build", "--apply", script=script)
    assert done.status == 0 and "passes 1 test" in done.stderr, done.stderr
    assert coder.tree()["pkg/a.py"].endswith(b"# more\n") and "build/out" not in coder.tree()


def test_tests_that_are_all_gone_count_as_broken(coder) -> None:
    (coder.project / "test_a.py").write_text(TEST)
    done = coder.do("tidy", "--apply", script=[call("run", argv=["rm", "test_a.py"]), finish()])
    assert done.status == 5 and "1 passed before" in done.stderr and "test_a.py" in coder.tree()


def test_the_tests_of_a_task_take_no_longer_than_it_may(coder) -> None:
    configure(coder, "sleep 60")
    begun = time.monotonic()
    done = coder.do("test", "--timeout", "4", script=[call("test"), finish()])
    assert done.status == 11 and "4 seconds are used up" in done.stderr
    assert time.monotonic() - begun < 30
    assert "did not end within" in coder.log()


def test_tests_that_do_not_end_keep_apply_from_applying(coder, monkeypatch) -> None:
    monkeypatch.setattr(verdict, "AT_LEAST_S", 1.0)
    configure(coder, "sleep 60")
    begun = time.monotonic()
    done = coder.do("write", "--apply", "--timeout", "6", script=[call("write", path="new.txt", text="1\n"), finish()])
    assert done.status == 5 and "the tests did not end within" in done.stderr
    assert time.monotonic() - begun < 30 and "new.txt" not in coder.tree()


@pytest.mark.parametrize(
    ("one", "worse", "said"),
    [
        (Verdict(3), False, "passes 3 tests"),
        (Verdict(1, failing=("a",)), False, "passes 1 test; 1 other fails, and did not pass before"),
        (Verdict(1, failing=("a", "b")), False, "passes 1 test; 2 others fail, none of which passed before"),
        (Verdict(1, broken=("a",)), True, "1 tests passed before and do not now: a"),
        (Verdict(problem="there are no tests"), False, "there are no tests"),
        (Verdict(1, lost=("n",)), True, "what became of n cannot be handed over; passes 1 test"),
        (Verdict(problem="too late", late=True), True, "too late"),
    ],
)
def test_what_a_verdict_says(one, worse, said) -> None:
    assert one.worse is worse and str(one) == said

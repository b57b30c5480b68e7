"""Whole tasks: the program, a real server that follows a script, the real jail."""

from __future__ import annotations

from tests.coder.agent.scripted import calls, finish


def test_an_edit_of_several_files_is_one_diff(coder) -> None:
    before = coder.tree()
    script = [
        calls(("read", {"path": "pkg/a.py"}), ("read", {"path": "pkg/b.py"})),
        calls(
            ("edit", {"path": "pkg/a.py", "first": 1, "last": 1, "text": "def unit():"}),
            ("replace", {"path": "pkg/b.py", "old": "import one", "new": "import unit as one"}),
        ),
        finish("renamed"),
    ]
    shown = coder.do("rename one to unit", "--dry-run", script=script)
    assert shown.status == 5 and coder.tree() == before
    assert "-def one():" in shown.stdout and "+from pkg.a import unit as one" in shown.stdout
    done = coder.do("rename one to unit", "--apply", script=script)
    assert done.status == 0, done.stderr
    assert coder.tree()["pkg/a.py"] == b"def unit():\n    return 1\n"
    assert coder("undo").status == 0 and coder.tree() == before
    assert coder("redo").status == 0 and coder.tree()["pkg/b.py"].startswith(b"from pkg.a import unit as one")

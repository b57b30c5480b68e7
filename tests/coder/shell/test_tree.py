"""What of a project the trials see: its own files first, nothing hidden, whatever cannot be read left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder.shell import tree as trees
from coder.shell.tree import Tree


def _write(root: Path, *paths: str, text: str = "x\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_own_files_come_before_environments_caches_and_what_git_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = [f".venv/lib/p{number}.py" for number in range(20)]
    _write(tmp_path, *packages, "node_modules/a/b.js", "env3/pyvenv.cfg", "env3/x.py", "build/out.o", "src/deep/a.py")
    _write(tmp_path, "readme.md", "zoo/z.txt")
    _write(tmp_path, ".gitignore", text="build/\n")
    whole = Tree.read(tmp_path)
    assert whole.whole and not whole.cut and {*packages, "build/out.o", "node_modules/a/b.js"} <= set(whole.files)
    monkeypatch.setattr(trees, "_FILES", 6)
    part = Tree.read(tmp_path)
    assert part.files[:4] == (".gitignore", "readme.md", "zoo/z.txt", "src/deep/a.py") and len(part.files) == 6
    assert part.cut and not part.whole


def test_a_large_file_is_left_out_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, "a.bin", text="x" * 100)
    _write(tmp_path, "b.txt", "c/d.txt")
    monkeypatch.setattr(trees, "_BYTES", 50)
    tree = Tree.read(tmp_path)
    assert tree.files == ("b.txt", "c/d.txt") and tree.cut and "a.bin" not in tree.modes


def test_what_rules_hide_is_not_there(tmp_path: Path) -> None:
    _write(tmp_path, "a.txt", "private/b.txt", "sub/c.key", "sub/d.txt", ".env", ".git/config", ".ssh/id")
    _write(tmp_path, ".coderignore", text="private/\n")
    _write(tmp_path, "sub/.coderignore", text="d.*\n")
    tree = Tree.read(tmp_path)
    assert tree.files == (".coderignore", "a.txt", "sub/.coderignore")
    assert not tree.whole and not tree.cut
    assert "private" not in tree.names and "b.txt" not in tree.names and not any(".git/" in path for path in tree.names)


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """Also for root: inside, somebody else reads the copy."""
    _write(tmp_path, "a.txt", "locked/b.txt", "c.txt")
    (tmp_path / "c.txt").chmod(0o200)
    (tmp_path / "locked").chmod(0o600)
    try:
        tree = Tree.read(tmp_path)
        assert tree.files == ("a.txt",) and set(tree.modes) == {"a.txt"} and tree.cut
        tree.copy().close()
    finally:
        (tmp_path / "locked").chmod(0o700)


def test_links_stay_links(tmp_path: Path) -> None:
    _write(tmp_path, "d/a.txt")
    (tmp_path / "l").symlink_to("d")
    tree = Tree.read(tmp_path)
    assert tree.files == ("l", "d/a.txt") and set(tree.modes) == {"d", "d/a.txt"} and tree.whole

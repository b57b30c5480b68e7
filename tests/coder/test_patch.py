from __future__ import annotations

import subprocess

import pytest

from coder.failure import Conflict
from coder.patch import Change, Edit, Proposal, Span, Version, apply_edits, decode, edited, plan, sha256, unified_diff


def proposal(data, *edits):
    return Proposal(tuple(Edit(Span("a.py", start, end), new) for start, end, new in edits), {"a.py": sha256(data)})


@pytest.mark.parametrize(
    "data, after",
    [
        (b"x = 1\n", b"y = 1\n"),
        (b"\xef\xbb\xbfx = 1\r\n", b"\xef\xbb\xbfy = 1\r\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\ny = '\xe9'\n"),
        (b"\xff\xfe" + "x = 1\n".encode("utf-16-le"), b"\xff\xfe" + "y = 1\n".encode("utf-16-le")),
        ("é = 'no newline'; x".encode(), "é = 'no newline'; y".encode()),
    ],
)  # fmt: skip
def test_a_plan_keeps_encoding_mark_line_endings_and_mode(data, after):
    at = decode(data).text.index("x")
    changes = plan(proposal(data, (at, at + 1, "y")), lambda path: Version(data, 0o755))
    assert changes == [Change("a.py", Version(data, 0o755), Version(after, 0o755))]


def test_new_lines_are_ended_as_the_file_ends_its_own():
    data = b"a\r\nb\r\n"
    (change,) = plan(proposal(data, (0, 1, "1\n2\r\n3")), lambda path: Version(data))
    assert change.after.data == b"1\r\n2\r\n3\r\nb\r\n"
    mixed = decode(b"a\r\nb\n")
    assert edited(mixed, [Edit(Span("a.py", 0, 1), "1\n2")]) == "1\n2\r\nb\n"


def test_a_file_that_changed_since_is_a_conflict():
    with pytest.raises(Conflict, match=r"a\.py has changed"):
        plan(proposal(b"old", (0, 1, "n")), lambda path: Version(b"new"))


def test_an_edit_without_effect_is_no_change():
    assert plan(proposal(b"abc", (0, 1, "a")), lambda path: Version(b"abc")) == []


def test_edits_may_touch_but_not_overlap():
    def edits(*spans):
        return [Edit(Span("a.py", start, end), "X") for start, end in spans]

    assert apply_edits("abcd", edits((2, 4), (0, 2))) == "XX"
    for spans in ((0, 3), (2, 4)), ((0, 9),), ((3, 1),):
        with pytest.raises(ValueError, match="overlaps another or lies outside"):
            apply_edits("abcd", edits(*spans))


@pytest.mark.parametrize(
    "before, after",
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\x0cb\x85\n\xc2\x85x\r\ny\n".replace(b"\x85\n", b"\n"), b"a\x0cb\nz\r\ny\n"),
        (None, b"new\nfile"),
        (b"old\nfile\n", None),
        (b"", b"x\n"),
        ("é\n".encode(), "è\n".encode()),
    ],
)
def test_git_takes_the_diff(tmp_path, before, after):
    if before is not None:
        (tmp_path / "a.py").write_bytes(before)
    version = [None if data is None else Version(data) for data in (before, after)]
    diff = unified_diff([Change("a.py", *version)])
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    left = (tmp_path / "a.py").read_bytes() if (tmp_path / "a.py").exists() else None
    assert left == after


def test_a_diff_names_binary_files_and_puts_files_in_order():
    changes = [
        Change("b.py", Version(b"1\n"), Version(b"2\n")),
        Change("a.bin", Version(b"\x80\x81"), Version(b"\x80\x82")),
    ]
    diff = unified_diff(changes)
    assert diff.startswith("Binary files a/a.bin and b/a.bin differ\n--- a/b.py\n+++ b/b.py\n@@")


def test_git_takes_modes_and_files_without_lines(tmp_path) -> None:
    changes = [
        Change("run.sh", Version(b"a\n", 0o644), Version(b"b\n", 0o755)),
        Change("only_mode.sh", Version(b"a\n", 0o755), Version(b"a\n", 0o644)),
        Change("new.sh", None, Version(b"x\n", 0o755)),
        Change("empty.py", None, Version(b"")),
        Change("gone.py", Version(b""), None),
    ]
    for change in changes:
        if change.before:
            (tmp_path / change.path).write_bytes(change.before.data)
            (tmp_path / change.path).chmod(change.before.mode)
    subprocess.run(["git", "apply"], input=unified_diff(changes), text=True, cwd=tmp_path, check=True)
    for change in changes:
        path = tmp_path / change.path
        if change.after is None:
            assert not path.exists()
        else:
            assert path.read_bytes() == change.after.data
            assert bool(path.stat().st_mode & 0o100) == bool(change.after.mode & 0o100)

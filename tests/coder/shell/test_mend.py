"""Commands that failed, mended by their complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder.shell.mend import mended
from coder.shell.syntax import parse

PLACE = Path("/srv/box")
PATHS = ("docs", "docs/notes.txt", "docs/my notes.txt", "src", "src/a.py", "lib/a.py", "src/odd'name.c")


def _mended(command: str, stderr: str) -> str:
    result = mended(command, stderr, PATHS, PLACE)
    parse(result)
    return result


@pytest.mark.parametrize(
    ("command", "stderr", "expected"),
    [
        (
            "find . -name '*.c' -exec cat {} | wc -l",
            "find: missing argument to `-exec'",
            "find . -name '*.c' -exec cat {} \\; | wc -l",
        ),
        (
            "find . -name *.txt -size +1k",
            "find: paths must precede expression: `b.txt'\nfind: possible unquoted pattern after predicate `-name'?",
            "find . -name '*.txt' -size +1k",
        ),
        ("cp src docs", "cp: -r not specified; omitting directory 'src'", "cp -r src docs"),
        (
            "find . -name src | xargs cp -t docs",
            "cp: -r not specified; omitting directory './src'",
            "find . -name src | xargs cp -r -t docs",
        ),
        ("grep -n x src", "grep: src: Is a directory", "grep -r -n x src"),
        (
            "find . -maxdepth 2 -name 'a*' -exec cat {} +",
            "cat: ./src: Is a directory",
            "find . -maxdepth 2 -type f -name 'a*' -exec cat {} +",
        ),
        ("find docs | xargs wc -l", "wc: docs: Is a directory", "find docs -type f | xargs wc -l"),
        (
            "find . -name '*.txt' | xargs wc -l",
            "wc: ./docs/my: No such file or directory\nwc: notes.txt: No such file or directory",
            "find . -name '*.txt' -print0 | xargs -0 wc -l",
        ),
        (
            "find . -name '*.c' -print | xargs cat",
            "xargs: unmatched single quote; by default quotes are special to xargs unless you use the -0 option",
            "find . -name '*.c' -print0 | xargs -0 cat",
        ),
        ("head -n 2 notes.txt", "head: cannot open 'notes.txt' for reading: No such file or directory",
         "head -n 2 docs/notes.txt"),
        ("cat notes.txt | sort", "cat: notes.txt: No such file or directory", "cat docs/notes.txt | sort"),
        ("sed -n 1p notes.txt", "sed: can't read notes.txt: No such file or directory", "sed -n 1p docs/notes.txt"),
        ("wc -l < notes.txt", "bash: line 1: notes.txt: No such file or directory", "wc -l < docs/notes.txt"),
        ("ls -l '/srv/box/notes.txt'", "ls: cannot access ‘/srv/box/notes.txt’: No such file or directory",
         "ls -l /srv/box/docs/notes.txt"),
        ("cat 'my notes.txt'", "cat: 'my notes.txt': No such file or directory", "cat 'docs/my notes.txt'"),
        ("tar cf x.tar notes.txt", "tar: notes.txt: Cannot stat: No such file or directory",
         "tar cf x.tar docs/notes.txt"),
    ],
)  # fmt: skip
def test_slips_are_mended(command: str, stderr: str, expected: str) -> None:
    assert _mended(command, stderr) == expected


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("cat a.py", "cat: a.py: No such file or directory"),  # there are two
        ("cat none.txt", "cat: none.txt: No such file or directory"),
        ("rm notes.txt", "rm: cannot remove 'notes.txt': No such file or directory"),
        ("rm src", "rm: cannot remove 'src': Is a directory"),
        ("ls > new/notes.txt", "bash: line 1: new/notes.txt: No such file or directory"),
        ("cp src/a.py new/notes.txt", "cp: cannot create regular file 'new/notes.txt': No such file or directory"),
        ("cp -R src docs", "cp: omitting directory 'src'"),
        ("find . -name a -o -name b | xargs cat", "cat: ./src: Is a directory"),
        ("find . -print0 | xargs -0 cat", "cat: x: No such file or directory"),
        ("find . -printf '%p\\n' | xargs cat", "cat: x: No such file or directory"),
        ("find . -exec cat {} \\;", "find: missing argument to `-name'"),
        ("grep -r x src", "grep: src: Is a directory"),
        ("ls -l", ""),
        ("find (", "bash: syntax error"),
    ],
)
def test_what_is_not_known_to_help_is_not_done(command: str, stderr: str) -> None:
    assert mended(command, stderr, PATHS, PLACE) == command

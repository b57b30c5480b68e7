"""What a glob of the `search` tool names."""

from __future__ import annotations

import pytest

from coder.agent.globs import names


@pytest.mark.parametrize("glob", ["", ".", "./", "/", "*", "**", "**/", "**/*", "./**"])
@pytest.mark.parametrize("path", ["a.py", "pkg/a.py", "pkg/sub/a.py"])
def test_these_name_all_files(glob, path) -> None:
    assert names(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "a.py"),
        ("*.py", "pkg/sub/a.py"),
        ("**/*.py", "a.py"),
        ("**/*.py", "pkg/sub/a.py"),
        ("pkg/**/*.py", "pkg/a.py"),
        ("pkg/**/*.py", "pkg/one/two/a.py"),
        ("pkg/**", "pkg/one/a.py"),
        ("pkg/*.py", "pkg/a.py"),
        ("./pkg/*.py", "pkg/a.py"),
        ("pkg", "pkg/one/a.py"),
        ("pkg/", "pkg/a.py"),
        ("pkg/one", "pkg/one/two/a.py"),
        ("one", "pkg/one/a.py"),
        ("a.py", "pkg/a.py"),
        ("pkg/a.py", "pkg/a.py"),
        ("**/one/**/a.*", "pkg/one/a.py"),
        ("[ab].py", "b.py"),
    ],
)
def test_a_glob_names(glob, path) -> None:
    assert names(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "a.pyc"),
        ("pkg/*.py", "pkg/one/a.py"),
        ("pkg/*.py", "src/pkg/a.py"),
        ("pkg/**/*.py", "a.py"),
        ("pkg", "pkg2/a.py"),
        ("pkg/one", "pkg/a.py"),
        ("**/one/**/a.*", "pkg/a.py"),
        ("../a.py", "a.py"),
        ("[", "a.py"),
        ("A.py", "a.py"),
    ],
)
def test_a_glob_does_not_name(glob, path) -> None:
    assert not names(glob, path)


def test_many_stars_take_no_longer() -> None:
    assert not names("**/" * 200 + "b", "/".join("a" * 200))

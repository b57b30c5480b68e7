from __future__ import annotations

import pytest

from coder.repository.outside import configuration_advice, editable_advice


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("pytest.ini", "", True),
        ("pyproject.toml", "[project]\nname = 'a'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n", True),
        ("pyproject.toml", "[tool.pytest-watch]\n", False),
        ("tox.ini", "[tox]\n", False),
        ("tox.ini", "[pytest]\n", True),
        ("setup.cfg", "[tool:pytest]\n", True),
        ("setup.cfg", "[pytest]\n", False),
    ],
)
def test_configuration_above_the_project_is_told(tmp_path, name, text, counts):
    top = tmp_path / "top"
    root = top / "packages" / "a"
    root.mkdir(parents=True)
    put(tmp_path / "pytest.ini")
    file = put(top / name, text)
    assert configuration_advice(root) == "", "in no repository nothing above is the project's"
    (top / ".git").mkdir()
    advice = configuration_advice(root)
    assert bool(advice) is counts
    if counts:
        assert str(file) in advice and f"name {top} " in advice and "--test packages/a" in advice
    assert configuration_advice(top) == ""
    put(root / "pyproject.toml", "[project]\n")
    assert configuration_advice(root) == advice
    put(root / "tox.ini", "[pytest]\n")
    assert configuration_advice(root) == "", "its own counts"


@pytest.fixture
def workspace(tmp_path):
    """A project `a` and a sibling `b` that has a package, a module, and a folder of each layout."""
    for path in "a/a.py", "b/src/pkg/__init__.py", "b/mod.py":
        put(tmp_path / path)
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/lib/python3.12/site-packages").mkdir(parents=True)
    return tmp_path


def test_what_is_editable_from_elsewhere_is_told_apart_from_what_is_missing(workspace):
    root, python, site = workspace / "a", workspace / "venv/bin/python", workspace / "venv/lib/python3.12/site-packages"
    put(site / "_b.pth", f"import os\n{workspace}/b/src\n{workspace}/a\n")
    put(
        site / "__editable___b_1_0_finder.py",
        f"import sys\nMAPPING: dict[str, str] = {{'mod': '{workspace}/b/mod'}}\nNAMESPACES = {{}}\n",
    )
    advice = editable_advice(["pkg.sub", "mod", "numpy", "a"], python, root)
    assert f"pkg.sub is installed in editable form from {workspace}/b/src/pkg" in advice
    assert f"mod is installed in editable form from {workspace}/b/mod.py" in advice
    assert "numpy" not in advice and f"{workspace}/a" not in advice
    assert editable_advice(["numpy", "a", "", "..", "/etc/passwd"], python, root) == ""


@pytest.mark.parametrize("text", ["MAPPING = {", "MAPPING = {open('x')}\n", "MAPPING = {'pkg': 1}\n", "\0"])
def test_a_finder_that_cannot_be_read_tells_nothing(workspace, text):
    put(workspace / "venv/lib/python3.12/site-packages/__editable___b_finder.py", text)
    assert editable_advice(["pkg"], workspace / "venv/bin/python", workspace / "a") == ""

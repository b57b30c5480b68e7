from __future__ import annotations

import pytest

from tests.coder.cli.harness import FakeSandbox, FakeTester, Program, fake_search, report


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_bytes(b"def clamp(x):\r\n    return min(x, 0)\r\n")
    (folder / "test_a.py").write_text("from a import clamp\n")
    return folder


@pytest.fixture
def coder(tmp_path, project):
    """The program with one failing test, one that passes, and a search that finds a patch."""
    program = Program(tmp_path / "home", project)
    program.tester = FakeTester([report("test_a.py::test_one"), report("test_a.py::test_two", "passed")])
    program.parts = {
        "find_sandbox": lambda sandboxed: FakeSandbox(),
        "make_tester": lambda sandbox, tree, request: program.tester,
        "search": fake_search(("min", "max")),
        "load_model": lambda: (None, None),
    }
    return program

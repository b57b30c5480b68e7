from __future__ import annotations

import pytest

from sandbox.jail import Sandbox
from tests.coder.agent.scripted import Tasks, serve


@pytest.fixture(scope="session")
def jail():
    """Found once: looking for it tries it out each time."""
    return Sandbox.detect()


@pytest.fixture
def server():
    with serve() as one:
        yield one


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "a.py").write_text("def one():\n    return 1\n")
    (folder / "pkg" / "b.py").write_text("from pkg.a import one\n\nTWO = one() + 1\n")
    (folder / "notes.txt").write_text("first\nsecond\n")
    return folder


@pytest.fixture
def coder(tmp_path, project, server, jail):
    program = Tasks(tmp_path / "home", project, server)
    program.parts = {"find_sandbox": lambda sandboxed: jail}
    return program

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox.jail import Sandbox
from sandbox.testing.session import TestSession
from sandbox.working_copy import WorkingCopy

LEAN = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Plugins that happen to be installed here and cost start-up time in each cold run."""


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return Sandbox.detect()


@pytest.fixture(scope="session")
def tree_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mapping[str, str]], WorkingCopy]:
    """Makes a working copy of a small project given as {path: text}."""

    def make(files: Mapping[str, str]) -> WorkingCopy:
        root = tmp_path_factory.mktemp("project")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(textwrap.dedent(text).lstrip("\n"))
        return WorkingCopy.of(root, files)

    return make


@pytest.fixture(scope="module")
def open_session(
    sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]
) -> Iterator[Callable[..., TestSession]]:
    """Opens a session on a project given as {path: text}; all are closed after the module.

    The environment variable PROJECT_PYTHON names another interpreter, with pytest, for the projects.
    """
    other = {"python": Path(os.environ["PROJECT_PYTHON"])} if "PROJECT_PYTHON" in os.environ else {}
    opened: list[TestSession] = []
    trees: list[WorkingCopy] = []

    def start(files: Mapping[str, str], *arguments: str, **options: Any) -> TestSession:
        trees.append(tree_of(files))
        opened.append(TestSession(sandbox, trees[-1], pytest_args=(*LEAN, *arguments), **{**other, **options}))
        return opened[-1]

    yield start
    for session in opened:
        session.close()
    for tree in trees:
        tree.close()

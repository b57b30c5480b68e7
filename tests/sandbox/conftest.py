from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.contract import Level, SandboxUnavailable
from sandbox.jail import Sandbox
from sandbox.working_copy import WorkingCopy


def _detect(level: Level | None) -> Sandbox:
    try:
        return Sandbox.detect(level)
    except SandboxUnavailable as refusal:
        pytest.skip(str(refusal))


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The strongest jail of this machine."""
    return _detect(None)


@pytest.fixture(scope="session")
def landlock_jail() -> Sandbox:
    return _detect(Level.LANDLOCK)


@pytest.fixture(scope="session", params=["strongest", "landlock", "unsafe"])
def any_jail(request: pytest.FixtureRequest) -> Sandbox:
    """Each way to run a command: what holds for all of them is tested on all of them."""
    if request.param == "unsafe":
        return Sandbox.unsafe()
    return _detect(None if request.param == "strongest" else Level.LANDLOCK)


@pytest.fixture
def tree() -> Iterator[WorkingCopy]:
    with WorkingCopy.of(Path("/"), ()) as copy:
        yield copy

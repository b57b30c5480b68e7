"""The engine's own part of a fix: what is not the search's."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder import events
from coder.config import Settings
from coder.engine import Engine, FixRequest
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository import Repository
from tests.coder.cli.harness import FakeSandbox, FakeTester, report


def test_a_cancelled_engine_stops_after_the_test_that_runs(tmp_path: Path) -> None:
    tests = [report(f"test_a.py::test_{number}") for number in range(3)]
    tester, seen = FakeTester(tests), []

    def cancel(event: events.Event) -> None:
        if isinstance(event, events.Tested):
            seen.append(event.node)
            engine.cancel.set()

    engine = Engine(
        Repository(tmp_path),
        Settings(),
        tmp_path / "state",
        Path(),
        cancel,
        find_sandbox=lambda sandboxed: FakeSandbox(),
        make_tester=lambda sandbox, tree, request: tester,
    )
    with pytest.raises(Failure) as stopped:
        engine.fix(FixRequest(use_model=False))
    assert stopped.value.status is ExitStatus.INTERRUPTED
    assert seen == ["test_a.py::test_0"] and tester.closed

"""A sandbox with an end."""

from __future__ import annotations

import time

import pytest

from coder.agent.timed import TimedSandbox
from sandbox.contract import Ending, Limits, SandboxUnavailable
from sandbox.working_copy import WorkingCopy


def test_runs_together_take_no_longer_than_they_may(jail, tmp_path) -> None:
    with WorkingCopy.of(tmp_path, ()) as tree:
        timed = TimedSandbox(jail, 30.0)
        assert timed.run(["sh", "-c", "echo ran"], tree).stdout == "ran\n" and timed.level is jail.level
        assert timed.run(["sleep", "20"], tree, Limits(wall_s=0.2)).ending is Ending.TIMEOUT
        assert timed.left_s > 0
        short, begun = TimedSandbox(jail, 0.5), time.monotonic()
        assert short.run(["sleep", "20"], tree).ending is Ending.TIMEOUT
        with pytest.raises(SandboxUnavailable):
            short.run(["true"], tree)
        assert time.monotonic() - begun < 15 and not short.left_s

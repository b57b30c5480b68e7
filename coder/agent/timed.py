"""A sandbox with an end: what a budget leaves for runs of the project's tests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox.contract import Limits, SandboxUnavailable
from sandbox.jail import DEFAULT_LIMITS, Sandbox
from sandbox.jailed import Jailed
from sandbox.working_copy import WorkingCopy


class TimedSandbox(Sandbox):
    """`sandbox` for `seconds` from now on: a run that goes on then is ended by its time limit, and none is begun."""

    def __init__(self, sandbox: Sandbox, seconds: float) -> None:
        super().__init__(sandbox.rung)
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        return max(self._end - time.monotonic(), 0.0)

    def spawn(
        self,
        argv: Sequence[str],
        tree: WorkingCopy,
        limits: Limits = DEFAULT_LIMITS,
        env: Mapping[str, str] = {},
        read_only: Iterable[Path | str] = (),
        pass_fds: Sequence[int] = (),
    ) -> Jailed:
        """Raises SandboxUnavailable once the time is over."""
        left = self.left_s
        if not left:
            raise SandboxUnavailable(f"{self.seconds:.0f} seconds are used up")
        bounded = replace(limits, wall_s=min(limits.wall_s, left))
        return super().spawn(argv, tree, bounded, env, read_only, pass_fds)

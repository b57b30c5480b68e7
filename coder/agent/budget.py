"""How much a task may use: steps, seconds, tokens."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class Exhausted(Exception):
    """A budget is used up. The message says which."""


@dataclass(frozen=True)
class Limits:
    steps: int = 50
    seconds: float = 1800.0
    tokens: int = 1_000_000


@dataclass
class Budget:
    """What was used since this part of the task began. Tokens are those that the model read and wrote, as it counts
    them, or about four characters each where it does not."""

    limits: Limits
    steps: int = 0
    tokens: int = 0
    begun: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def left_s(self) -> float:
        return max(self.limits.seconds - self.seconds, 0.0)

    def renew(self, limits: Limits) -> None:
        """`limits` once more, from here on."""
        self.limits = Limits(self.steps + limits.steps, self.seconds + limits.seconds, self.tokens + limits.tokens)

    def check(self) -> None:
        """Raises Exhausted."""
        if self.left_s <= 0:
            raise Exhausted(f"{self.limits.seconds:.0f} seconds are used up")
        if self.steps >= self.limits.steps:
            raise Exhausted(f"{self.limits.steps} steps are used up")
        if self.tokens >= self.limits.tokens:
            raise Exhausted(f"{self.limits.tokens:,} tokens are used up")

"""First edits that led on to another failure, and the second edits that mend that one.

Where two slips break the code one after the other, each can be mended by itself: what gets past the first failure is
known by the second, whatever it was that got past. A second edit that gets past the second failure then goes with any
of the first ones, and only the right two pass the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coder.repair.candidate import Base, Candidate
from coder.repair.pairs import moved
from coder.repair.progress import Progress

# First edits that led to the same failure, and second edits that are tried with all of them.
ALIKE, SECONDS = 40, 12


@dataclass(frozen=True)
class Failing:
    """How far the tests came, and how and where they failed there."""

    reached: Progress
    inside: tuple[int, ...]
    error: str
    message: str


@dataclass
class _Step:
    """First edits that led to one failure, the one that was built on first; `reached`, with that one done, as its own
    lines say."""

    alike: list[Candidate]
    reached: Progress
    seconds: int = 0


class Steps:
    def __init__(self) -> None:
        self._by_failure: dict[Failing, _Step] = {}
        self._by_base: dict[Base, _Step] = {}

    def known(self, candidate: Candidate, failure: Failing) -> bool:
        """Whether another edit led to this failure before; then this one is remembered beside it."""
        step = self._by_failure.get(failure)
        if step is not None and len(step.alike) < ALIKE:
            step.alike.append(candidate)
        return step is not None

    def first(self, candidate: Candidate, failure: Failing, base: Base, reached: Progress) -> None:
        """A first edit, and the base that it became."""
        self._by_failure[failure] = self._by_base[base] = _Step([candidate], reached)

    def second(self, candidate: Candidate, reached: Progress) -> Iterator[Candidate]:
        """A second edit, with the other first edits where it brings its base further."""
        step = self._by_base.get(candidate.base)
        if step is None or step.seconds >= SECONDS or not reached.beyond(step.reached):
            return
        step.seconds += 1
        first, *others = step.alike
        found = (moved(candidate, first, other) for other in others)
        yield from (candidate for candidate in found if candidate is not None)

"""Candidates that are tried twice: in haste, and with the tests collected anew.

A function that ran while the tests were collected may have left its work behind (an object that a test module made, a
table filled by a decorator). Swapped in place, new code finds the old work there: what passes so is confirmed cold like
all else, what fails may yet be right.
"""

from __future__ import annotations

import heapq
import itertools

from coder.repair.candidate import Candidate

# Of the time of the search, for second trials: they take ten to thirty times as long as the first.
SHARE = 0.4


class Anew:
    """What failed in haste, the likeliest first. `spent` is the seconds that second trials took so far."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Candidate]] = []
        self._count = itertools.count()
        self.spent = 0.0

    def add(self, candidate: Candidate) -> None:
        candidate.hasty = False
        heapq.heappush(self._heap, (-candidate.score, next(self._count), candidate))

    def due(self, elapsed: float) -> bool:
        """Whether a second trial is to come next, `elapsed` seconds into the search."""
        return bool(self._heap) and self.spent < SHARE * elapsed

    def take(self) -> Candidate | None:
        """The likeliest; None when there is none."""
        return heapq.heappop(self._heap)[2] if self._heap else None

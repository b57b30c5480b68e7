"""Candidates, what they are edits of, and the pool that hands them out, best first."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coder.patch import Proposal
from coder.repair.context import changed_files
from coder.repair.normalise import Normaliser
from coder.repair.source import Source


@dataclass(eq=False)
class Base:
    """The code that candidates are edits of: the files as they are (`depth` 0), or with an edit done that brought the
    failing test further. `handicap` is taken off the score of what is built on it."""

    sources: Mapping[str, Source]
    depth: int = 0
    handicap: float = 0.0
    note: str = ""


@dataclass(eq=False)
class Candidate:
    """One proposal against a base. `likelihood` is the change in log-likelihood that it makes, in nats, when known."""

    base: Base
    proposal: Proposal
    suspicion: float
    likelihood: float = 0.0
    exact: bool = False
    admitted: bool = False
    score: float = 0.0

    @property
    def files(self) -> dict[str, str]:
        """The texts of the files that it changes, against the base."""
        return changed_files({path: self.base.sources[path].text for path in self.proposal.paths}, self.proposal)


class Pool:
    """Candidates in order of score: those with a cheap score, and those that the model has read.

    One thread takes from the first kind and puts into the second; the other takes the best of both. Nothing is handed
    out that does not compile or that is the same program as something handed out before.
    """

    # A cheap score is worth that much less (nats) than the same exact one.
    DOUBT = 1.0

    def __init__(self, originals: Mapping[str, Source]) -> None:
        self._rough: list[tuple[float, int, Candidate]] = []
        self._exact: list[tuple[float, int, Candidate]] = []
        self._count = itertools.count()
        self._normaliser = Normaliser(originals)
        self.changed = threading.Condition()

    def add(self, candidates: Iterable[Candidate]) -> None:
        with self.changed:
            for candidate in candidates:
                heap = self._exact if candidate.exact else self._rough
                heapq.heappush(heap, (-candidate.score, next(self._count), candidate))
            self.changed.notify_all()

    def drain(self) -> list[Candidate]:
        """Take all that the model has not read, unchecked: to be scored anew and added again."""
        with self.changed:
            taken, self._rough = [entry[2] for entry in self._rough], []
        return taken

    def unread(self, count: int) -> list[Candidate]:
        """Take the best that the model has not read yet."""
        taken: list[Candidate] = []
        with self.changed:
            while self._rough and len(taken) < count:
                candidate = heapq.heappop(self._rough)[2]
                if self.admit(candidate):
                    taken.append(candidate)
        return taken

    def best(self) -> Candidate | None:
        """Take the best of all."""
        with self.changed:
            while self._exact or self._rough:
                exact = -self._exact[0][0] if self._exact else float("-inf")
                rough = -self._rough[0][0] - self.DOUBT if self._rough else float("-inf")
                candidate = heapq.heappop(self._exact if exact >= rough else self._rough)[2]
                if self.admit(candidate):
                    return candidate
        return None

    def admit(self, candidate: Candidate) -> bool:
        """Whether a candidate is a new program that compiles; asked of each once, then remembered."""
        with self.changed:
            if not candidate.admitted:
                candidate.admitted = self._normaliser.new(candidate.proposal, candidate.base.sources)
            return candidate.admitted

    @property
    def ready(self) -> int:
        """How many the model has read."""
        return len(self._exact)

    def __len__(self) -> int:
        return len(self._exact) + len(self._rough)

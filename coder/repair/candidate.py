"""Candidates, what they are edits of, and the pool that hands them out, best first."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from coder.patch import Proposal
from coder.repair.complaint import Complaint
from coder.repair.context import changed_files
from coder.repair.files import AnySource
from coder.repair.normalise import Normaliser


@dataclass(eq=False)
class Base:
    """The code that candidates are edits of: the files as they are (`depth` 0), or with an edit done that brought the
    failing test further. `handicap` is taken off the score of what is built on it, `merit` says which of several bases
    to build on first; `places` are the files and lines that it is about: where its edit was made and where its tests
    break now; `complaints` are what these complain of, with the share of them that do."""

    sources: Mapping[str, AnySource]
    depth: int = 0
    handicap: float = 0.0
    note: str = ""
    merit: float = 0.0
    places: tuple[tuple[str, int], ...] = ()
    complaints: Mapping[Complaint, float] = field(default_factory=dict)


@dataclass(eq=False)
class Candidate:
    """One proposal against a base. `likelihood` is the change in log-likelihood that it makes, in nats: 0 until it was
    `skimmed` (its first token), better once it is `exact` (all that it changes). `cost` is what its trial takes beyond
    an ordinary one, as a logarithm of their ratio. `hasty`: the next trial may be (see `coder.repair.anew`)."""

    base: Base
    proposal: Proposal
    suspicion: float
    likelihood: float = 0.0
    cost: float = 0.0
    skimmed: bool = False
    exact: bool = False
    admitted: bool = False
    taken: bool = False
    hasty: bool = True
    score: float = 0.0

    @cached_property
    def told(self) -> float:
        """How much likelier the failing tests' complaints make it, in nats."""
        complaints = self.base.complaints.items()
        return sum(share * one.speaks_for(self.proposal, self.base.sources) for one, share in complaints)

    @cached_property
    def hunk(self) -> tuple[int, str, int, int]:
        """The base, file and lines that it changes; path "" when there is more than one file."""
        paths = self.proposal.paths
        if len(paths) != 1:
            return id(self.base), "", 0, 0
        source = self.base.sources[paths[0]]
        first = min(source.line_of(edit.span.start) for edit in self.proposal.edits)
        last = max(source.line_of(max(edit.span.end - 1, edit.span.start)) for edit in self.proposal.edits)
        return id(self.base), paths[0], first, min(last, len(source.lines))

    def line_before(self, path: str, line: int) -> int:
        """Which line of the base a line of the changed file was; the first of the changed ones for what is new."""
        source = self.base.sources.get(path)
        for edit in sorted(self.proposal.edits, key=lambda edit: edit.span):
            if source is None or edit.span.path != path:
                continue
            first = source.line_of(edit.span.start)
            more = edit.replacement.count("\n") - source.text.count("\n", edit.span.start, edit.span.end)
            # Where whole lines go, the next one stands in place of the first.
            gone = more < 0 and edit.span.start == source.line_start(first)
            if line > first - gone:
                line = max(first, line - more)
        return line

    @property
    def files(self) -> dict[str, str]:
        """The texts of the files that it changes, against the base."""
        return changed_files({path: self.base.sources[path].text for path in self.proposal.paths}, self.proposal)


class Pool:
    """Candidates in order of score, less what is not known of them yet.

    One thread adds candidates and, when the model has looked at some, adds them again; the other takes the best.
    Nothing is handed out that does not compile or that is the same program as something handed out before.
    """

    # A score is worth that much less (nats) while the model has seen the first token of the change only, or nothing.
    SKIMMED, UNSEEN = 0.5, 2.5

    def __init__(self, originals: Mapping[str, AnySource]) -> None:
        self._heap: list[tuple[float, int, Candidate]] = []
        self._count = itertools.count()
        self._waiting: set[Candidate] = set()
        self._normaliser = Normaliser(originals)
        self.changed = threading.Condition()

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Put in, or move to the place of its present score, what was not taken."""
        with self.changed:
            for candidate in candidates:
                if not candidate.taken:
                    self._waiting.add(candidate)
                    heapq.heappush(self._heap, (-self._value(candidate), next(self._count), candidate))
            self.changed.notify_all()

    def best(self) -> Candidate | None:
        """Take the best of all."""
        with self.changed:
            while self._heap:
                value, _, candidate = heapq.heappop(self._heap)
                if not candidate.taken and -value == self._value(candidate):
                    self._take(candidate)
                    if self.admit(candidate):
                        return candidate
        return None

    def waiting(self) -> list[Candidate]:
        """All that was not taken yet."""
        with self.changed:
            return list(self._waiting)

    def unread(self, count: int, among: int) -> list[Candidate]:
        """The best that the model has not read yet, left in the pool; none where all of the best `among` are read. All
        change the same lines as the first of them, so that one reading of what stands before serves all."""
        found: list[Candidate] = []
        with self.changed:
            for candidate in heapq.nlargest(among, self._waiting, key=self._value):
                if candidate.exact or (found and candidate.hunk != found[0].hunk):
                    continue
                if len(found) == count:
                    break
                if self.admit(candidate):
                    found.append(candidate)
                else:
                    self._take(candidate)
        return found

    def admit(self, candidate: Candidate) -> bool:
        """Whether a candidate is a new program that compiles; asked of each once, then remembered."""
        with self.changed:
            if not candidate.admitted:
                candidate.admitted = self._normaliser.new(candidate.proposal, candidate.base.sources)
            return candidate.admitted

    def __len__(self) -> int:
        return len(self._waiting)

    def _value(self, candidate: Candidate) -> float:
        return candidate.score - (0.0 if candidate.exact else self.SKIMMED if candidate.skimmed else self.UNSEEN)

    def _take(self, candidate: Candidate) -> None:
        candidate.taken = True
        self._waiting.discard(candidate)

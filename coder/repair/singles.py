"""From suspicious functions to scored candidates of one edit each, and of the same edit at several places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

from coder.patch import Proposal
from coder.repair import rank
from coder.repair.candidate import Base, Candidate
from coder.repair.edits.base import Hints
from coder.repair.files import AnyFunction, AnyRegion, AnySource, propose
from coder.repair.files import region as region_of
from coder.repair.library import Library
from coder.repair.localise import Suspicion

# The same slip made at several places is that much rarer (nats) than at one.
REPEATED = 1.5
# Lines before and behind where the tests of a base break that second edits are made to.
NEAR = 10
# Outside of functions nothing can be swapped: the tests are collected anew, some ten to thirty times as long.
COLLECTED_ANEW = 3.0


class Singles:
    """Proposes single edits of suspicious functions, on the code as it is or on a changed base."""

    def __init__(self, suspicions: Sequence[Suspicion], hints: Hints, library: Library) -> None:
        self.suspicions = suspicions
        self._hints = hints
        self._library = library

    def candidates(
        self, suspicion: Suspicion, base: Base, cancelled: Callable[[], bool] = lambda: False
    ) -> list[Candidate]:
        region = self.region(suspicion, base)
        if region is None:
            return []
        proposals = propose(region, cancelled)
        proposals += repeated(proposals, region.source)
        scores = line_scores(region)
        least = min(scores.values(), default=0.1)
        found = []
        for proposal in proposals:
            lines = {region.source.line_of(edit.span.start) for edit in proposal.edits}
            near = [scores[n] for line in lines for n in (line, line - 1) if n in scores]
            candidate = Candidate(base, proposal, max(near, default=least), cost=trial_cost(region))
            candidate.score = rank.score(candidate)
            found.append(candidate)
        return found

    def concerned(self, base: Base) -> list[Suspicion]:
        """The functions that hold the places of a base."""

        def holds(suspicion: Suspicion) -> bool:
            function = suspicion.function and _same(base.sources[suspicion.path], suspicion.function)
            return function is not None and bool(_places(base, suspicion.path, function))

        return [suspicion for suspicion in self.suspicions if holds(suspicion)]

    def region(self, suspicion: Suspicion, base: Base) -> AnyRegion | None:
        """The function of a suspicion in the base's version of its file."""
        source = base.sources[suspicion.path]
        if not base.depth or suspicion.function is None:
            function, lines = suspicion.function, suspicion.lines
        else:
            function = _same(source, suspicion.function)
            if function is None:
                return None
            # Lines may have moved: near to where the tests break now, all count as the function's best.
            near = _places(base, suspicion.path, function)
            close = (line for line in _reach(function) if not near or min(abs(line - place) for place in near) <= NEAR)
            lines = {line: suspicion.lines.get(line, suspicion.score) for line in close}
        return region_of(source, function, lines, self._hints, self._library)


def trial_cost(region: AnyRegion) -> float:
    """What a trial in a region takes beyond an ordinary one, as `Candidate.cost` counts it."""
    return COLLECTED_ANEW if region.function is None else 0.0


class _Scored(Protocol):
    """What a region says of its statements, whatever their language."""

    @property
    def suspects(self) -> list[Any]: ...

    def header(self, statement: Any) -> tuple[int, int]: ...

    def suspect(self, statement: Any) -> float: ...


def line_scores(region: _Scored) -> dict[int, float]:
    """The suspicion of each line, that of a statement spread over all the lines of its header."""
    scores: dict[int, float] = {}
    for statement in region.suspects:
        first, last = region.header(statement)
        for line in range(first, last + 1):
            scores[line] = max(scores.get(line, 0.0), region.suspect(statement))
    return scores


def repeated(proposals: Sequence[Proposal], source: AnySource) -> list[Proposal]:
    """The same replacement at every place of the function where the same text stands."""
    groups: dict[tuple[str, str, str], list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        if len(proposal.edits) == 1:
            edit = proposal.edits[0]
            old = source.text[edit.span.start : edit.span.end]
            if old.strip() and "\n" not in old:
                groups[proposal.origin, old, edit.replacement].append(proposal)
    found = []
    for (origin, old, new), members in groups.items():
        if 2 <= len(members) <= 6:
            edits = tuple(sorted((member.edits[0] for member in members), key=lambda edit: edit.span))
            if all(a.span.end <= b.span.start for a, b in pairwise(edits)):
                prior = max(member.prior for member in members) - REPEATED
                note = f"`{' '.join(old.split())[:40]}` → `{new[:40]}` at {len(members)} places"
                found.append(Proposal(edits, {}, origin, prior, note))
    return found


def _reach(function: AnyFunction) -> range:
    """The lines of a function."""
    return range(function.lineno, (function.end_lineno or function.lineno) + 1)


def _places(base: Base, path: str, function: AnyFunction) -> list[int]:
    """The lines of a function at which a base has places."""
    return [line for where, line in base.places if where == path and line in _reach(function)]


def _same(source: AnySource, function: AnyFunction) -> AnyFunction | None:
    """The function of the same name that begins nearest to where it began."""
    named = [other for other in source.functions() if other.name == function.name]
    return min(named, key=lambda other: abs(other.lineno - function.lineno), default=None)


def waves(suspicions: Sequence[Suspicion]) -> Iterator[Sequence[Suspicion]]:
    """Functions in growing groups, the likeliest first."""
    start = 0
    for size in (4, 8, 16, 32):
        if start >= len(suspicions):
            return
        yield suspicions[start : start + size]
        start += size

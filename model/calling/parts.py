"""Which parts of a request are for which tools, and where a further call begins."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model.calling.assign import Found, Text
from model.calling.candidate import Candidate
from model.calling.mentions import quotations
from model.calling.relevance import relevance
from model.calling.words import stems

_CLAUSE = re.compile(
    r"(?<=[.?!;])\s+(?=[A-Z\"'])|\n+|,?\s(?=(?:and\s)?(?:then|also|finally|lastly|additionally|while|plus)\b)"
    r"|,?\s(?=and\sanother\b)"
    r"|,\s(?=and\s)|,?\s(?=and\s(?:for|from|in|at|with|a|an|the|by|how|what|which|who|when|where|[a-z]+\s(?:the|a|an|me|if))\b)"
    r"|,\s(?=(?:one|for|another|the\s(?:first|second|third|fourth|fifth|last|other))\b)|(?<=\))\s(?=and\s\()"
)  # where another call may begin
_SPOKEN, _MINOR = 1.0, 0.4  # what a clause must share with a tool, and the tool with the request beside the best one
_ALIKE = 0.6  # how good a slot's second value must be beside its first to begin another call


@dataclass(frozen=True)
class Part:
    """What a request says for one call or several alike, and where it begins among the clauses."""

    one: Candidate
    text: str
    at: int


def parts_of(candidates: Sequence[Candidate], request: str, today: datetime.date | None) -> list[Part]:
    """The parts in the order of the request; at least one."""
    found = [part for one, clauses in _regions(candidates, request) for part in _Dividing(one, today).parts(clauses)]
    return sorted(found, key=lambda part: part.at)


def _regions(candidates: Sequence[Candidate], whole: str) -> list[tuple[Candidate, list[tuple[int, str]]]]:
    """The tools that are asked for, each with the clauses that are about it and their places among all. A clause is
    about the tool that it speaks of most, and about those whose own words it has; one that is about several is divided
    at its commas, if they part them."""
    best = max(candidates, key=lambda one: one.relevance)
    others = [
        frozenset().union(*(other.profile.about for other in candidates if other is not one)) for one in candidates
    ]

    def owner(clause: str) -> list[Candidate]:
        said = frozenset(stems(clause))
        shares = relevance([one.profile for one in candidates], said)
        found = []
        for one, foreign, share in zip(candidates, others, shares):
            own = one.profile.name - foreign
            named = len(own & said) >= max(0.6 * len(own), 1)
            if one.relevance > _MINOR * best.relevance and (named or share == max(shares) >= _SPOKEN):
                found.append(one)
        return found

    owned: list[tuple[str, list[Candidate]]] = []
    for clause in filter(str.strip, _CLAUSE.split(whole)):
        found = owner(clause)
        pieces = [(piece, owner(piece)) for piece in _at_commas(clause)] if len(found) > 1 else []
        apart = {owners[0].tool.name for _, owners in pieces if len(owners) == 1}
        owned += pieces if len(apart) > 1 else [(clause, found)]
    clauses = [clause for clause, _ in owned]
    last = next((found for _, found in owned if found), [best])
    owners = [last := found or last for _, found in owned]  # what names no tool is about the one before
    asked = list(dict.fromkeys(one.tool.name for found in owners for one in found))
    if len(asked) == 1:
        return [(best, list(enumerate(clauses)))]
    return [
        (one, [(at, clause) for at, (clause, found) in enumerate(zip(clauses, owners)) if one in found])
        for name in asked
        for one in candidates
        if one.tool.name == name
    ]


def _at_commas(clause: str) -> list[str]:
    """The clause divided at its commas, but for those in quotes."""
    quoted = quotations(clause)
    commas = re.finditer(r",\s+", clause)
    outside = [hit for hit in commas if not any(one.start < hit.start() < one.end for one in quoted)]
    edges = [0, *(edge for hit in outside for edge in hit.span()), len(clause)]
    return [clause[start:end] for start, end in zip(edges[::2], edges[1::2])]


@dataclass(frozen=True)
class _Dividing:
    """The clauses that are about a tool, joined up to where a slot that has its value gets another."""

    one: Candidate
    today: datetime.date | None

    def parts(self, clauses: Sequence[tuple[int, str]]) -> Iterator[Part]:
        last: Part | None = None
        for at, clause in clauses:
            if last and self._goes_on(last.text, clause):
                last = replace(last, text=f"{last.text} {clause}")
                continue
            if last:
                yield last
            last = Part(self.one, clause, at)
        if last:
            yield last

    def _goes_on(self, before: str, clause: str) -> bool:
        """Whether a clause is about the same call as the text before it: its values are new ones, or stand in a row
        with those before, or are found in both together."""
        whole = f"{before} {clause}"
        if any(row[0].start < len(before) < row[-1].end for row in Text(whole, self.today).rows):
            return True
        own, taken = self._found(clause), self._found(before)
        new = {path: first for path, first in own.items() if path not in taken}
        same = {path for path in self._chosen - new.keys() if path in own and own[path].value == taken[path].value}
        twice = [path for path in own if path in taken and path not in same]
        pairs = (sorted((1 + own[path].score, 1 + taken[path].score)) for path in twice)
        again = sum(max(low / 2, low - 0.5) for low, high in pairs if low >= _ALIKE * high)
        return not again or _worth(self._found(whole)) >= _worth(taken) + again + _worth(new)

    @property
    def _chosen(self) -> set[tuple[str, ...]]:
        return {slot.path for slot in self.one.slots if slot.required and "enum" in slot.schema}

    def _found(self, text: str) -> dict[tuple[str, ...], Found]:
        """The values whose form makes them such; not those of rows, where another begins no call."""
        rows, chosen = {slot.path for slot in self.one.slots if slot.kind == "array"}, self._chosen
        firsts = {path: first for path, (first, *_) in self.one.values(text, self.today, several=False).items()}
        solid = {path: first for path, first in firsts.items() if first.solid or path in chosen}
        return {path: first for path, first in solid.items() if path not in rows or first.mention.kind == "list"}


def _worth(some: Mapping[tuple[str, ...], Found]) -> float:
    return sum(1 + first.score for first in some.values())

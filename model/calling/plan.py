"""The calls that a request asks for: which tools, how often, and with which values."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from model.calling.assign import Found, Text, assign
from model.calling.mentions import quotations
from model.calling.relevance import Profile, profile, relevance
from model.calling.slots import Slot, slots_of
from model.calling.words import stem, stems
from model.chat import Tool

_CLAUSE = re.compile(
    r"(?<=[.?!;])\s+(?=[A-Z\"'])|\n+|,?\s(?=(?:and\s)?(?:then|also|finally|lastly|additionally|while|plus)\b)"
    r"|,?\s(?=and\sanother\b)"
    r"|,\s(?=and\s)|,?\s(?=and\s(?:for|from|in|at|with|a|an|the|by|how|what|which|who|when|where|[a-z]+\s(?:the|a|an|me|if))\b)"
    r"|,\s(?=(?:one|for|another|the\s(?:first|second|third|fourth|fifth|last|other))\b)|(?<=\))\s(?=and\s\()"
)  # where another call may begin
_ALL = re.compile(r"\b(?:both|each|all|their)\b", re.IGNORECASE)
_SURE = 1.6  # relevance from which a tool is called without being demanded
_FILLED, _LACKING = 1.5, 2.0  # what the required values that a request has, and has not, say for a tool
_NAMED = 0.3  # what a value says that the request labels
_POOR = 1.0  # a value that scores less gives way to one that was said before
_WEAK = 0.0  # one below which it is looked for in the whole request
_ALIKE = 0.6  # how good a slot's second value must be beside its first to begin another call
_BAD = -1.0  # the score of a value that counts as none
_ORDERED = 1.0  # what it says that the request begins with a word of the tool's name: `filter the list`
_UNDOING = frozenset(map(stem, "remove delete cancel clear reset erase drop undo discard unsubscribe disable".split()))
_UNASKED = 1.5  # what it says for a tool that undoes, that the request has such a word, and against it, that it has not
_SPOKEN, _MINOR = 1.0, 0.4  # what a clause must share with a tool, and the tool with the request beside the best one


@dataclass(frozen=True)
class Planned:
    """A call: the tool, how much the request speaks of it, and the value found for each part of its arguments.
    `spoken`: the request has a word of the tool's name, or values that the schema itself names or describes."""

    tool: Tool
    relevance: float
    values: Mapping[tuple[str, ...], Found]
    lacking: Sequence[Slot]
    spoken: bool = True

    @property
    def sure(self) -> bool:
        """Whether the request surely is for this tool, and has all that it requires but choices of the schema's own."""
        choices = all("enum" in slot.schema or slot.kind == "boolean" for slot in self.lacking)
        if not choices or not self.spoken or self.relevance < _SURE:
            return False
        if not self.values:
            return not self.tool.parameters.get("properties")
        return all(one.certain and not one.open for one in self.values.values())

    def given(self, more: Mapping[tuple[str, ...], Found]) -> Planned:
        """This call with those of the values that it has not."""
        lacking = [slot for slot in self.lacking if slot.path not in more]
        return replace(self, values={**more, **self.values}, lacking=lacking)


@dataclass(frozen=True)
class _Candidate:
    """A tool before it is chosen."""

    tool: Tool
    profile: Profile
    slots: Sequence[Slot]
    relevance: float
    spoken: bool

    def values(
        self, text: str, today: datetime.date | None, several: bool = True
    ) -> dict[tuple[str, ...], list[Found]]:
        plain = (
            text.replace(self.tool.name, " " * len(self.tool.name))
            if "_" in self.tool.name or "." in self.tool.name
            else text
        )
        return assign(self.slots, Text(plain, today), self.profile.about, several)


def plan(tools: Sequence[Tool], request: str, today: datetime.date | None = None) -> list[Planned]:
    """The calls, in the order of the request; at least one. `today`: what `tomorrow` counts from."""
    whole = request.strip()
    if len(whole) > 2 and whole[0] == whole[-1] == '"':
        whole = whole[1:-1]
    profiles = [profile(tool) for tool in tools]
    said = stems(whole)
    shares = relevance(profiles, frozenset(said))
    candidates = []
    for tool, own, share in zip(tools, profiles, shares):
        slots = slots_of(tool)
        values = assign(slots, Text(whole, today), own.about, several=False)
        ordered = _ORDERED * (said[:1] != [] and said[0] in own.name)
        own_values = any(_described(slot, values[slot.path][0]) for slot in slots if slot.path in values)
        undoes = _UNASKED * bool(_UNDOING & own.name) * (-1 if _UNDOING & frozenset(said) else 1)
        spoken = bool(own.name & frozenset(said)) or own_values
        candidates.append(_Candidate(tool, own, slots, share + _fit(slots, values) + ordered - undoes, spoken))
    parts = [part for one, clauses in _regions(candidates, whole) for part in _parts(one, clauses, today)]
    calls: list[Planned] = []
    for part in sorted(parts, key=lambda part: part.at):
        new = _calls(part, whole, today, calls)
        if _ALL.search(part.text):  # what is said of both is said of the earlier ones too
            calls = [one.given(new[-1].values) if one.tool is part.one.tool else one for one in calls]
        calls += new
    once = {(one.tool.name, repr({path: found.value for path, found in one.values.items()})): one for one in calls}
    return list(once.values())


def _described(slot: Slot, found: Found) -> bool:
    """Whether the schema itself names the value, or says what it looks like."""
    said = found.value if isinstance(found.value, list) else [found.value]
    patterned = "pattern" in slot.schema and not found.open
    return "enum" in slot.schema or patterned or any(one in slot.vocabulary.values() for one in said)


def _fit(slots: Sequence[Slot], values: Mapping[tuple[str, ...], Sequence[Found]]) -> float:
    """Whether the request has what the tool requires, and names its parameters: a value that is badly found counts as
    none."""
    required = [slot for slot in slots if slot.required]
    named = _NAMED * sum(max(0.0, first.score - 2.0) for first, *_ in values.values())
    if not required:
        return _FILLED / 2 + named
    has = sum(slot.path in values and values[slot.path][0].score > _BAD for slot in required)
    return (_FILLED + _LACKING) * has / len(required) - _LACKING + named


def _regions(candidates: Sequence[_Candidate], whole: str) -> list[tuple[_Candidate, list[tuple[int, str]]]]:
    """The tools that are asked for, each with the clauses that are about it and their places among all. A clause is
    about the tool that it speaks of most, and about those whose own words it has; one that is about several is divided
    at its commas, if they part them."""
    best = max(candidates, key=lambda one: one.relevance)
    others = [
        frozenset().union(*(other.profile.about for other in candidates if other is not one)) for one in candidates
    ]

    def owner(clause: str) -> list[_Candidate]:
        said = frozenset(stems(clause))
        shares = relevance([one.profile for one in candidates], said)
        found = []
        for one, foreign, share in zip(candidates, others, shares):
            own = one.profile.name - foreign
            named = len(own & said) >= max(0.6 * len(own), 1)
            if one.relevance > _MINOR * best.relevance and (named or share == max(shares) >= _SPOKEN):
                found.append(one)
        return found

    clauses: list[str] = []
    for clause in filter(str.strip, _CLAUSE.split(whole)):
        pieces = _at_commas(clause)
        apart = {one.tool.name for piece in pieces if len(found := owner(piece)) == 1 for one in found}
        clauses += pieces if len(owner(clause)) > 1 and len(apart) > 1 else [clause]
    owners: list[list[_Candidate]] = []
    for clause in clauses:
        owners.append(owner(clause) or (owners[-1] if owners else []))
    first = next(filter(None, owners), [best])
    owners = [found or first for found in owners]  # what names no tool is about the one before
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
class _Part:
    """What a request says for one call or several alike, and where it begins among the clauses."""

    one: _Candidate
    text: str
    at: int


def _calls(part: _Part, whole: str, today: datetime.date | None, earlier: Sequence[Planned]) -> list[Planned]:
    """The calls of one tool that a part of the request asks for. What one lacks is that of an earlier call, or else is
    looked for in the whole request."""
    one = part.one
    values = one.values(part.text, today)
    required = [slot for slot in one.slots if slot.required]
    said = {path: found for call in earlier for path, found in call.values.items()}
    poor = [slot.path for slot in required if slot.path not in values or values[slot.path][0].score < _POOR]
    poor += [slot.path for slot in one.slots if slot.path not in values and _same_as(slot, part.text)]
    values |= {
        path: [said[path]]
        for path in poor
        if path in said and (path not in values or (said[path].solid and not values[path][0].solid))
    }
    lacking = [slot for slot in required if slot.path not in values]
    if part.text != whole:
        loose = {path for path, row in values.items() if row[0].score < _WEAK and not row[0].solid}
        weak = [slot for slot in required if slot.path not in values or slot.path in loose]
        taken = [row[0].value for path, row in values.items() if path not in loose]
        anywhere = assign(weak, Text(whole, today), one.profile.about, several=False)
        free = {path: row for path, row in anywhere.items() if row[0].solid and row[0].value not in taken}
        values |= {path: row for path, row in anywhere.items() if path not in values} | free
        lacking = [slot for slot in lacking if slot.path not in values]
    return [Planned(one.tool, one.relevance, row, lacking, one.spoken) for row in _rows(one, values)]


def _same_as(slot: Slot, text: str) -> bool:
    """Whether the text says that the slot has the value of an earlier call: `the same place`."""
    after = re.findall(r"\bsame\s([^.,;?!]*)", text)
    return any(set(stems(slot.name)) & set(stems(" ".join(words.split()[:4]))) for words in after)


def _parts(one: _Candidate, clauses: Sequence[tuple[int, str]], today: datetime.date | None) -> list[_Part]:
    """Clauses joined up to where a slot that has its value gets another: there the next call begins."""
    rows = {slot.path for slot in one.slots if slot.kind == "array"}  # another for a row begins no call
    chosen = {slot.path for slot in one.slots if slot.required and "enum" in slot.schema}

    def found(text: str) -> dict[tuple[str, ...], Found]:
        firsts = {path: first for path, (first, *_) in one.values(text, today, several=False).items()}
        solid = {path: first for path, first in firsts.items() if first.solid or path in chosen}
        return {path: first for path, first in solid.items() if path not in rows or first.mention.kind == "list"}

    def worth(some: Mapping[tuple[str, ...], Found]) -> float:
        return sum(1 + first.score for first in some.values())

    parts: list[_Part] = []
    for at, clause in clauses:
        if parts:
            last = parts[-1]
            rows_of = Text(f"{last.text} {clause}", today).rows
            if any(row[0].start < len(last.text) < row[-1].end for row in rows_of):
                parts[-1] = _Part(one, f"{last.text} {clause}", last.at)
                continue
            own, taken, joined = found(clause), found(last.text), found(f"{last.text} {clause}")
            both = [
                path for path in own if path in taken and (path not in chosen or own[path].value != taken[path].value)
            ]
            pairs = (sorted((1 + own[path].score, 1 + taken[path].score)) for path in both)
            again = sum(max(low / 2, low - 0.5) for low, high in pairs if low >= _ALIKE * high)
            new = {path: first for path, first in own.items() if path not in taken}
            if not again or worth(joined) >= worth(taken) + again + worth(new):
                parts[-1] = _Part(one, f"{last.text} {clause}", last.at)
                continue
        parts.append(_Part(one, clause, at))
    return parts


def _rows(one: _Candidate, values: Mapping[tuple[str, ...], Sequence[Found]]) -> list[dict[tuple[str, ...], Found]]:
    """The values of each call of a tool. Slots with as many values each go together; one of `a and b` and one of `x, y
    and z` make six calls. Several values make calls only where they are required, or known to the schema."""
    known = {slot.path for slot in one.slots if slot.required or "enum" in slot.schema}
    known |= {
        slot.path
        for slot in one.slots
        if all(str(found.value) in slot.vocabulary.values() for found in values.get(slot.path, ()))
    }
    counts = sorted({len(row) for path, row in values.items() if path in (known or values)})
    rows: list[dict[tuple[str, ...], Found]] = [{path: row[0] for path, row in values.items()}]
    for count in counts[1:] if counts[:1] == [1] else counts:
        alike = {path: row for path, row in values.items() if len(row) == count and path in (known or values)}
        rows = [
            {**row, **{path: several[at] for path, several in alike.items()}} for row in rows for at in range(count)
        ]
    return rows

"""Tools beside a request, before any is chosen."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.calling.assign import BAD, Chosen, Found, Text, assign
from model.calling.relevance import Profile, profile, relevance
from model.calling.slots import Slot, slots_of
from model.calling.words import stem, stems
from model.chat import Tool

_FILLED, _LACKING = 1.5, 2.0  # what the required values that a request has, and has not, say for a tool
_NAMED = 0.3  # what a value says that the request labels
_ORDERED = 1.0  # what it says that the request begins with a word of the tool's name: `filter the list`
_UNDOING = frozenset(map(stem, "remove delete cancel clear reset erase drop undo discard unsubscribe disable".split()))
_UNASKED = 1.5  # what it says for a tool that undoes, that the request has such a word, and against it, that it has not


@dataclass(frozen=True)
class Candidate:
    """A tool, and how much the request speaks of it. `spoken`: the request has a word of the tool's name, or values
    that the schema itself names or describes."""

    tool: Tool
    profile: Profile
    slots: Sequence[Slot]
    relevance: float
    spoken: bool

    def values(self, text: str, today: datetime.date | None, several: bool = True) -> Chosen:
        """The values that a text has for the tool; the tool's own name is none."""
        if re.search(r"[._]", self.tool.name):
            text = text.replace(self.tool.name, " " * len(self.tool.name))
        return assign(self.slots, Text(text, today), self.profile.about, several)


def candidates(tools: Sequence[Tool], request: str, today: datetime.date | None) -> list[Candidate]:
    """All tools, in their order."""
    profiles = [profile(tool) for tool in tools]
    said, text = stems(request), Text(request, today)
    found = []
    for tool, own, share in zip(tools, profiles, relevance(profiles, frozenset(said))):
        slots = slots_of(tool)
        values = assign(slots, text, own.about, several=False)
        score = share + _fit(slots, values) + _ORDERED * (said[:1] != [] and said[0] in own.name)
        score -= _UNASKED * bool(_UNDOING & own.name) * (-1 if _UNDOING & frozenset(said) else 1)
        own_values = any(_described(slot, values[slot.path][0]) for slot in slots if slot.path in values)
        found.append(Candidate(tool, own, slots, score, bool(own.name & frozenset(said)) or own_values))
    return found


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
    has = sum(slot.path in values and values[slot.path][0].score > BAD for slot in required)
    return (_FILLED + _LACKING) * has / len(required) - _LACKING + named

"""The calls that a request asks for: which tools, how often, and with which values."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from model.calling.assign import Chosen, Found, Text, assign
from model.calling.candidate import Candidate, candidates
from model.calling.parts import Part, parts_of
from model.calling.slots import Slot
from model.calling.words import stems
from model.chat import Tool

_ALL = re.compile(r"\b(?:both|each|all|their)\b", re.IGNORECASE)
_SURE = 1.6  # relevance from which a tool is called without being demanded
_POOR = 1.0  # a value that scores less gives way to one that was said before
_WEAK = 0.0  # one below which it is looked for in the whole request


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


def plan(tools: Sequence[Tool], request: str, today: datetime.date | None = None) -> list[Planned]:
    """The calls, in the order of the request; at least one. `today`: what `tomorrow` counts from."""
    whole = request.strip()
    if len(whole) > 2 and whole[0] == whole[-1] == '"':
        whole = whole[1:-1]
    calls: list[Planned] = []
    for part in parts_of(candidates(tools, whole, today), whole, today):
        new = _calls(part, whole, today, calls)
        if _ALL.search(part.text):  # what is said of both is said of the earlier ones too
            calls = [one.given(new[-1].values) if one.tool is part.one.tool else one for one in calls]
        calls += new
    once = {(one.tool.name, repr({path: found.value for path, found in one.values.items()})): one for one in calls}
    return list(once.values())


def _calls(part: Part, whole: str, today: datetime.date | None, earlier: Sequence[Planned]) -> list[Planned]:
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
    if part.text != whole:
        loose = {path for path, row in values.items() if row[0].score < _WEAK and not row[0].solid}
        weak = [slot for slot in required if slot.path not in values or slot.path in loose]
        taken = [row[0].value for path, row in values.items() if path not in loose]
        anywhere = assign(weak, Text(whole, today), one.profile.about, several=False)
        free = {path: row for path, row in anywhere.items() if row[0].solid and row[0].value not in taken}
        values |= {path: row for path, row in anywhere.items() if path not in values} | free
    lacking = [slot for slot in required if slot.path not in values]
    return [Planned(one.tool, one.relevance, row, lacking, one.spoken) for row in _rows(one, values)]


def _same_as(slot: Slot, text: str) -> bool:
    """Whether the text says that the slot has the value of an earlier call: `the same place`."""
    after = re.findall(r"\bsame\s([^.,;?!]*)", text)
    return any(set(stems(slot.name)) & set(stems(" ".join(words.split()[:4]))) for words in after)


def _rows(one: Candidate, values: Chosen) -> list[dict[tuple[str, ...], Found]]:
    """The values of each call of a tool. Slots with as many values each go together; one of `a and b` and one of `x, y
    and z` make six calls. Several values make calls only where they are required, or known to the schema."""
    rows: list[dict[tuple[str, ...], Found]] = [{path: row[0] for path, row in values.items()}]
    known = {slot.path for slot in one.slots if slot.path in values and _counts(slot, values[slot.path])}
    several = {path: row for path, row in values.items() if len(row) > 1 and path in (known or values)}
    for count in sorted({len(row) for row in several.values()}):
        alike = {path: row for path, row in several.items() if len(row) == count}
        rows = [{**row, **{path: found[at] for path, found in alike.items()}} for row in rows for at in range(count)]
    return rows


def _counts(slot: Slot, row: Sequence[Found]) -> bool:
    """Whether each value of a slot is for a call of its own."""
    return slot.required or "enum" in slot.schema or all(str(one.value) in slot.vocabulary.values() for one in row)

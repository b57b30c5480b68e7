"""Who gets which value: mentions of a text given to the slots that they fit best."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.calling.labels import label
from model.calling.mentions import Mention, meets, mentions
from model.calling.slots import Slot, items_of
from model.calling.values import value_of
from model.calling.vocabulary import named_values
from model.calling.words import stem, stems
from model.schema import mismatch

_ENOUGH = 1.6  # what an optional parameter's value has to score
_PHRASE = 2.5  # what it has to score where its form alone makes it no value
_CERTAIN = 3.0  # a run of words that scores more is the value;
_DOUBT = 1.0  # of others the model chooses among those whose scores are this close
_COUNT = 2.0  # how little a number in letters is a value where digits will do: "two cars, one of 10 and one of 20"
_TIE = 0.25  # scores of two numbers that differ by less say nothing of which is whose
BAD, _UNSURE = -1.0, -0.6  # the scores of values, and of runs of words, below which they are none
_ROLE = 0.3  # what the words around a choice count, beside those around other values
_PARTLY = 1.5  # how much less than the best a choice beside it may score
_MOST = 8  # values to choose among
_ELSEWHERE = 2.0  # what it costs a value to be another parameter's choice
_BESIDE = 2.5  # how much less than the first the others of a row may score
_FLAGS = frozenset(
    map(stem, "is has include includes get show enable enabled with flag use return only want need provide".split())
)
_PLACE = frozenset(
    map(stem, "location city place country state region area address origin destination start end".split())
)
_DENIED = re.compile(r"\b(?:no|not|without|never|except|exclud\w*|don't|disable\w*|off|less)\b[^.,;]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """A value for a slot, how well it fits, where it stands, and what fits about as well. `open`: the text has one, but
    not in the form that the schema asks for, so the model writes it."""

    value: Any
    score: float
    mention: Mention
    others: tuple[Any, ...] = ()
    open: bool = False

    @property
    def solid(self) -> bool:
        """Whether the form alone makes it a value."""
        formed = self.mention.kind not in ("phrase", "rest") and not self.mention.parts and not self.mention.spelt
        return formed and self.score >= (-0.3 if self.mention.kind == "number" else 0.8)

    @property
    def certain(self) -> bool:
        """Whether a call may be made with it that nobody demands."""
        return self.score > (_UNSURE if self.mention.kind == "phrase" else BAD)


class Text:
    """A text to find values in, read once."""

    def __init__(self, text: str, today: datetime.date | None = None) -> None:
        self.text = text
        self.mentions = mentions(text, today)
        self.words = [(hit.start(), hit.end(), stem(hit[0])) for hit in re.finditer(r"[^\W_]+", text)]
        self.rows = [one.parts for one in self.mentions if one.parts]

    def place(self, one: Mention) -> tuple[int, int] | None:
        """The row that holds the mention, as in `a, b and c`, and its number there; of several rows the longest."""
        for row, parts in enumerate(self.rows):
            for at, part in enumerate(parts):
                if part.start <= one.start and one.end <= part.end:
                    return row, at
        return None

    def before(self, one: Mention) -> Mention | None:
        """What stands before the mention in its row."""
        row, at = self.place(one) or (0, 0)
        return self.rows[row][at - 1] if at else None


Chosen = dict[tuple[str, ...], list[Found]]
Table = Sequence[tuple[Slot, Found]]  # what could be whose, the best first


def assign(slots: Sequence[Slot], text: Text, about: frozenset[str], several: bool = True) -> Chosen:
    """The values of each slot by its path, as they stand in the text; slots that nothing fits are left out. `about`:
    stems of what the tool does, which are seldom values. `several`: a slot gets all of a row, unless another needs it.
    """
    table = [(slot, found) for slot in slots for found in _fitting(slot, slots, text, about)]
    table.sort(key=lambda pair: -pair[1].score)
    chosen = _best_first(table, slots, text, several)
    _settle(chosen, table)
    _in_order(chosen, table, slots)
    if several:
        _fill_rows(chosen, table, slots, text)
    return {path: sorted(row, key=lambda one: one.mention.start) for path, row in _doubted(chosen, table).items()}


def _best_first(table: Table, slots: Sequence[Slot], text: Text, several: bool) -> Chosen:
    """Each slot gets the best of what no better served one has; and the rest of its row, if no other waits for it."""
    chosen: Chosen = {}
    used: list[Mention] = []
    for slot, found in table:
        doubtful = found.mention.kind == "phrase" and slot.kind == "string" and "enum" not in slot.schema
        least = -2.0 if slot.required else _PHRASE if doubtful else _ENOUGH
        if slot.path in chosen or found.score < least or meets(found.mention, used):
            continue
        used.append(found.mention)
        chosen[slot.path] = [found]
        waiting = (one for one in slots if one.required and one.path not in chosen)
        if several and slot.kind != "array" and not any(_alike(one, slot) for one in waiting):
            chosen[slot.path] += _beside(slot, found, table, text, used)
            used += [one.mention for one in chosen[slot.path][1:]]
    return chosen


def _fill_rows(chosen: Chosen, table: Table, slots: Sequence[Slot], text: Text) -> None:
    """What stands in a row with a value and went to no other slot belongs to the value's."""
    used = [one.mention for found in chosen.values() for one in found]
    for slot in slots:
        if len(chosen.get(slot.path, ())) == 1 and slot.kind != "array":
            row = _beside(slot, chosen[slot.path][0], table, text, used)
            used += [one.mention for one in row]
            chosen[slot.path] += row


def _doubted(chosen: Chosen, table: Table) -> Chosen:
    """The same, and beside each run of words that is not clearly the value those that would do as well."""
    used = [one.mention for row in chosen.values() for one in row]
    doubted = dict(chosen)
    for path, row in chosen.items():
        if len(row) > 1 or row[0].mention.kind != "phrase" or row[0].score >= _CERTAIN:
            continue
        [first] = row
        elsewhere = [one for one in used if one is not first.mention]
        near = (one for slot, one in table if slot.path == path and one.score >= first.score - _DOUBT)
        values = [one.value for one in near if not meets(one.mention, elsewhere)]
        others = [value for at, value in enumerate(values) if value != first.value and value not in values[:at]]
        doubted[path] = [replace(first, others=tuple(others[:_MOST]))]
    return doubted


def _settle(chosen: Chosen, table: Table) -> None:
    """Lets a slot take another's only value where the two are better served together."""
    for slot, found in table:
        mine = chosen.get(slot.path, [])
        if len(mine) != 1:
            continue
        rivals = {path: [one.mention for one in row] for path, row in chosen.items() if path != slot.path}
        losers = [path for path, row in rivals.items() if meets(found.mention, row)]
        if len(losers) != 1 or len(chosen[losers[0]]) > 1 or chosen[losers[0]][0].mention.parts:
            continue
        [path] = losers
        taken = [found.mention, *(one for other, row in rivals.items() if other != path for one in row)]
        free = (one for owner, one in table if owner.path == path and not meets(one.mention, taken))
        instead = next(free, None)
        if instead and found.score + instead.score > chosen[path][0].score + mine[0].score + 0.1:
            chosen[slot.path], chosen[path] = [found], [instead]


def _in_order(chosen: Chosen, table: Table, slots: Sequence[Slot]) -> None:
    """Where two numbers would do as well in each other's place, they come in the order of the parameters."""
    numeric = [slot for slot in slots if slot.numeric and len(chosen.get(slot.path, ())) == 1]
    for at, first in enumerate(numeric):
        for second in numeric[at + 1 :]:
            [one], [other] = chosen[first.path], chosen[second.path]
            if one.mention.start < other.mention.start:
                continue
            a, b = _with(first, other.mention, table), _with(second, one.mention, table)
            if a and b and a.score + b.score > one.score + other.score - _TIE:
                chosen[first.path], chosen[second.path] = [a], [b]


def _with(slot: Slot, mention: Mention, table: Table) -> Found | None:
    """What a slot would have of a mention."""
    return next((found for owner, found in table if owner is slot and found.mention is mention), None)


def _beside(slot: Slot, first: Found, table: Table, text: Text, used: Sequence[Mention]) -> list[Found]:
    """The best of each other place in the row of a value that was found."""
    home = text.place(first.mention)
    found: dict[tuple[int, int], Found] = {}
    for one in (one for other, one in table if other is slot):
        place = text.place(one.mention)
        near = one.score >= first.score - _BESIDE and not meets(one.mention, used)
        if home and place and place[0] == home[0] and place[1] != home[1] and near:
            found.setdefault(place, one)
    return list(found.values())


def _alike(one: Slot, other: Slot) -> bool:
    """Whether values of the one would do for the other."""
    if one.numeric or other.numeric:
        return one.numeric and other.numeric
    places = bool(_PLACE & one.weights.keys()), bool(_PLACE & other.weights.keys())
    return one.kind == other.kind == "string" and places[0] == places[1]


def _fitting(slot: Slot, slots: Sequence[Slot], text: Text, about: frozenset[str]) -> list[Found]:
    """What could be the slot's value, with scores."""
    if "enum" in slot.schema:
        return _of_enum(slot, text)
    if slot.kind == "boolean":
        return _of_boolean(slot, text, about)
    if slot.kind == "array" and "enum" in (items := items_of(slot.schema)):
        return _of_choices(replace(slot, schema=items), text)
    alike = [one for one in slots if one.numeric]
    numbers = [one for one in text.mentions if one.kind == "number"]
    digits = [one for one in numbers if not one.spelt]
    enough = len(digits) >= sum(one.required for one in alike)
    schemas = [schema for one in slots for schema in (one.schema, items_of(one.schema)) if "enum" in schema]
    choices = {name.casefold() for schema in schemas for name, _ in named_values(schema)}
    found = []
    for mention in text.mentions:
        fitting = value_of(slot, mention, text.text, about)
        if fitting is None:
            continue
        value, form = fitting
        score = form + _labels(slot, mention, text) - _ELSEWHERE * (str(mention.value).casefold() in choices)
        if slot.numeric:  # where nothing else tells them apart, the first number is for the first slot
            counted = mention.spelt and enough
            score -= _COUNT * (counted and slot.required) + 0.2 * (not slot.required)
            at = (numbers if counted or not enough else digits).index(mention)
            score -= 0.05 * abs(alike.index(slot) - at % len(alike)) + 0.001 * at
        else:
            score -= 0.0005 * mention.start
        patterned = "pattern" in slot.schema or "pattern" in items_of(slot.schema)
        if mismatch(value, {key: one for key, one in slot.schema.items() if key != "description"}) is None:
            found.append(Found(value, score + (2.0 if patterned else 0.0), mention))
        elif patterned and mention.kind in ("name", "quoted") and _plain(slot, value):
            found.append(Found(value, score, mention, open=True))
    return found


def _plain(slot: Slot, value: Any) -> bool:
    """Whether the value would do but for the pattern."""
    without = {key: one for key, one in slot.schema.items() if key in ("type", "minItems", "maxItems")}
    return mismatch(value, without) is None


def _labels(slot: Slot, mention: Mention, text: Text) -> float:
    """What the words around a mention say for the slot; in a row, also those around what stands before it."""
    rivals = [one for one in text.mentions if one.kind == mention.kind and mention.kind != "phrase"]
    own, before = label(slot, mention, text.text, rivals), text.before(mention)
    return own if before is None else max(own, 0.9 * _labels(slot, before, text))


def _of_enum(slot: Slot, text: Text) -> list[Found]:
    """Values of an enumeration that the text names, by their words, their signs' names or the schema's own synonyms."""
    found = []
    for name, value in named_values(slot.schema):
        wanted = stems(name) or [stem(name)]
        hits = [next(place for place in text.words if place[2] == word) for word in wanted if word in _said(text)]
        if len(hits) == len(wanted) or (hits and hits[0][2] == wanted[0] and len(wanted[0]) > 2):
            start, end = min(hits)[0], max(hits)[1]
            mention = Mention(start, end, "phrase", name)
            score = 2.0 + len(hits) ** 2 / len(wanted) + _ROLE * label(slot, mention, text.text, [])
            found.append(Found(value, score, mention))
    return found


def _of_choices(single: Slot, text: Text) -> list[Found]:
    """All the values of an enumeration that the text names, as one. One that shares only a word with the text does not
    stand beside one that is named in full."""
    chosen: list[Found] = []
    for one in sorted(_of_enum(single, text), key=lambda one: -one.score):
        near = not chosen or one.score >= chosen[0].score - _PARTLY
        if near and not meets(one.mention, [other.mention for other in chosen]):
            chosen.append(one)
    values = list(dict.fromkeys(one.value for one in sorted(chosen, key=lambda one: one.mention.start)))
    parts = tuple(one.mention for one in chosen)
    return [Found(values, chosen[0].score, replace(parts[0], parts=parts))] if chosen else []


def _said(text: Text) -> set[str]:
    return {word for _, _, word in text.words}


def _of_boolean(slot: Slot, text: Text, about: frozenset[str]) -> list[Found]:
    """True where the text has a word of the slot's name that the tool itself has not; false where it is denied."""
    own = set(stems(slot.name)) - _FLAGS
    # `include_tax` is about the tax, whatever the tool says that it includes
    if not slot.parts & _FLAGS and not slot.required:
        own -= about
    hit = next((place for place in text.words if place[2] in own), None)
    if hit is None:
        return []
    denied = _DENIED.search(text.text[max(0, hit[0] - 40) : hit[0]])
    return [Found(not denied, 2.5, Mention(hit[0], hit[1], "phrase", slot.name))]

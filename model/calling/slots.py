"""The parameters of a tool, flat, and the words that stand for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from model.calling.vocabulary import examples, synonyms
from model.calling.words import stem, stems
from model.chat import Tool

_WIDER = frozenset(map(stem, "country state province".split()))
_NAME, _DESCRIPTION = 3.0, 1.0  # what a word of the one and of the other tells


@dataclass(frozen=True)
class Slot:
    """A parameter, or a part of one: its place in the arguments, its schema and the words that stand for it. `weights`
    is what each stem tells, less where other slots share it; `vocabulary` holds values that the schema names, by what
    people say for them. `divided`: the country or state of a place has a slot of its own."""

    path: tuple[str, ...]
    schema: Mapping[str, Any]
    required: bool
    weights: Mapping[str, float]
    vocabulary: Mapping[str, str]
    divided: bool = False

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def parts(self) -> set[str]:
        """Stems of the words of the name, `from` and `to` among them."""
        return {stem(part) for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", self.name)}

    @property
    def kind(self) -> str:
        """The JSON type; empty where the schema names none, or several."""
        kind = self.schema.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def numeric(self) -> bool:
        return self.kind in ("integer", "number") and "enum" not in self.schema


def slots_of(tool: Tool) -> list[Slot]:
    """The leaves of the tool's schema: what holds no listed properties of its own."""
    slots = _leaves(tool.parameters, (), True, dict(synonyms(tool.description)))
    shared = [word for slot in slots for word in slot.weights]
    apart = any(_WIDER & set(stems(slot.name)) for slot in slots)
    return [
        replace(
            slot,
            divided=apart or _alone(slot),
            weights={word: told / shared.count(word) for word, told in slot.weights.items()},
        )
        for slot in slots
    ]


def _alone(slot: Slot) -> bool:
    """Whether a place is asked for without the one that it lies in."""
    wider = _WIDER & set(stems(described(slot.schema))) or re.search(r"[a-z], [A-Z]", described(slot.schema))
    return stem("city") in stems(slot.name) and not wider


def _leaves(
    schema: Mapping[str, Any], path: tuple[str, ...], required: bool, meanings: Mapping[str, str]
) -> list[Slot]:
    found: list[Slot] = []
    needed = schema.get("required") or ()
    for name, one in (schema.get("properties") or {}).items():
        if not isinstance(one, Mapping):
            continue
        here, asked = (*path, name), required and name in needed
        if one.get("type") == "object" and one.get("properties"):
            found += _leaves(one, here, asked, meanings)
            continue
        description = described(one)
        weights = dict.fromkeys(stems(description), _DESCRIPTION)
        weights |= dict.fromkeys(stems(" ".join(here).replace("-", " ")), _NAME)
        said = {words.casefold(): value for words, value in (*meanings.items(), *synonyms(description))}
        known = examples(description) | said
        by_stems = {" ".join(map(stem, key.split())): value for key, value in known.items()}
        found.append(Slot(here, one, asked, weights, by_stems | known))
    return found


def items_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the items that a parameter holds; empty where it says none, or several."""
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def described(schema: Mapping[str, Any]) -> str:
    """The description of a parameter, and of the items that it holds."""
    return f"{schema.get('description') or ''} {items_of(schema).get('description') or ''}".strip()

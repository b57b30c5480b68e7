"""How much of a request speaks of each tool: words that they share, rarer ones among the tools counting more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.calling.vocabulary import named_values
from model.calling.words import stems
from model.chat import Tool


@dataclass(frozen=True)
class Profile:
    """The stems of a tool's name, of its description and of its parameters."""

    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]

    @property
    def about(self) -> frozenset[str]:
        return self.name | self.description


def profile(tool: Tool) -> Profile:
    properties = tool.parameters.get("properties") or {}
    words: list[str] = []
    for name, schema in properties.items():
        words += stems(name)
        if isinstance(schema, Mapping) and "enum" in schema:
            words += [word for said, _ in named_values(schema) for word in stems(said)]
    return Profile(frozenset(stems(tool.name)), frozenset(stems(tool.description)), frozenset(words))


def relevance(profiles: Sequence[Profile], words: frozenset[str]) -> list[float]:
    """One figure for each tool, from 0 on; a word's weight is its rarity among the tools' own."""
    every = [one.about | one.parameters for one in profiles]

    def weight(word: str) -> float:
        return math.log((len(profiles) + 1) / sum(word in one for one in every)) + 0.1

    def share(own: frozenset[str]) -> float:
        whole = sum(map(weight, own))
        met = sum(map(weight, own & words))
        return met / math.sqrt(whole) if whole else 0.0

    return [
        2 * share(one.name) + share(one.description - one.name) + 0.7 * share(one.parameters - one.about)
        for one in profiles
    ]

"""Tools whose argument values are taken from the conversation: what a small model had better copy than make up.

A string is a run of words of what the user said, one of the schema's own values, or its default; a number is one that
was said. It narrows the grammar that a call is decoded under, not what the model is shown. For calls whose arguments
all stand in the request; not for tools that are given new text. Imports no torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.chat import Message, Tool

_LONGEST = 7  # words of a value
_MOST = 600  # values of one string
_LIGHT = frozenset(
    "a an the of to for in on at by with from and or is are was be it its this that my your me i".split()
)
_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}


@dataclass(frozen=True)
class _Said:
    texts: tuple[str, ...]
    numbers: tuple[float, ...]


def grounded(tools: Sequence[Tool], messages: Sequence[Message]) -> list[Tool]:
    """The tools with schemas that admit only values that messages of the user or of tools hold."""
    text = "\n".join(message.content for message in messages if message.role in ("user", "tool"))
    said = _Said(tuple(spans(text)), tuple(numbers(text)))
    return [replace(tool, parameters=_narrowed(dict(tool.parameters), said)) for tool in tools]


def spans(text: str) -> list[str]:
    """Runs of words that neither begin nor end with a light one nor pass the end of a sentence; what stands in quotes
    as it stands. Longest last."""
    found: dict[str, None] = {}
    for quoted in re.findall(r"\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)", text):
        found["".join(quoted)] = None
    pieces = [re.findall(r"\S+", piece) for piece in re.split(r"(?<=[.!?;:])\s+|\n", text)]
    for length in range(1, _LONGEST + 1):
        for words in pieces:
            for at in range(len(words) - length + 1):
                run = " ".join(words[at : at + length]).strip(".,;:!?\"'()[]")
                ends = run.casefold().split()
                if ends and ends[0] not in _LIGHT and ends[-1] not in _LIGHT:
                    found[run.removesuffix("'s").removesuffix("’s")] = None
    return list(found)[:_MOST]


def numbers(text: str) -> list[float]:
    """As written in digits or in words; a percentage also as a fraction."""
    found: dict[float, None] = {}
    for hit in re.finditer(r"(?<![\w.])(-?\d[\d,]*(?:\.\d+)?)\s*(%|percent)?", text):
        value = float(hit[1].replace(",", ""))
        if math.isinf(value):
            continue
        found[value] = None
        if hit[2]:
            found[value / 100] = None
    found.update((float(_WORDS[word]), None) for word in re.findall(r"[a-z]+", text.casefold()) if word in _WORDS)
    return list(found)


def _narrowed(schema: Any, said: _Said) -> Any:
    if not isinstance(schema, Mapping) or "enum" in schema or "const" in schema:
        return schema
    own = [schema["default"]] if isinstance(schema.get("default"), str | int | float) else []
    match schema.get("type"):
        case "string" if said.texts:
            return {"enum": list(dict.fromkeys([*own, *said.texts]))}
        case "integer" if whole := [int(one) for one in said.numbers if one == int(one)]:
            return {"enum": list(dict.fromkeys([*own, *whole]))}
        case "number" if said.numbers:
            return {
                "enum": list(dict.fromkeys([*own, *(int(one) if one == int(one) else one for one in said.numbers)]))
            }
        case "array" if "items" in schema:
            return {**schema, "items": _narrowed(schema["items"], said)}
        case "object" if isinstance(schema.get("properties"), Mapping):
            return {**schema, "properties": {name: _narrowed(one, said) for name, one in schema["properties"].items()}}
    return schema

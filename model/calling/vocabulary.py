"""Values that a schema names itself: its enumerations and the examples and synonyms in its descriptions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from model.calling.codes import LANGUAGES

_EXAMPLES = re.compile(
    r"(?:e\.g\.|i\.e\.|such as|like|for example|options?|choices? (?:are|is)|either|supported[^:.]*)[,:]?\s*([^.()]*)"
    r"|\(([^()]+,[^()]+)\)",
    re.IGNORECASE,
)
_OR = re.compile(r",(?!\s*[A-Z]{2}\b)\s*(?:or\s|and\s)?|\s+(?:or|and)\s+|/")  # not within `Bonn, NW`
_QUOTED = r"['\"]([^'\"\n]{1,40})['\"]"
_SYNONYM = re.compile(
    rf"((?:{_QUOTED.replace('(', '(?:', 1)}(?:\s*(?:or|and|,)\s*)?)+)\s*(to|as|for|means)\s+['\"]?"
    r"([A-Za-z][\w -]*?)(?=['\",.;)]|\s+and\b|$)"
)


def examples(description: str) -> dict[str, str]:
    """Values that a description gives as examples, by their small letters."""
    found: dict[str, str] = {}
    for hit in _EXAMPLES.finditer(description):
        for one in _OR.split(next(filter(None, hit.groups()), "")):
            value = one.strip(" '\"“”`")
            if value and len(value) <= 30 and len(value.split()) <= 3 and value.casefold() != "etc":
                found[value.casefold()] = value
    found |= {value.casefold(): value for value in re.findall(r"(?<!\w)'([^'\n]{1,30})'(?!\w)", description)}
    return found


def synonyms(description: str) -> Iterator[tuple[str, str]]:
    """(words, value) where a description says what words stand for: `map 'heart' to Cardiology`, `'DL' for Delta`."""
    for hit in _SYNONYM.finditer(description):
        for quoted in re.findall(_QUOTED, hit[1]):
            for one in quoted.split("/"):
                yield (one.strip(), hit[3].strip()) if hit[2] in ("to", "as") else (hit[3].strip(), one.strip())


def named_values(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, value) of an enumeration: its values as they stand, signs by their Unicode names, and synonyms."""
    values = schema["enum"]
    for value in values:
        if not isinstance(value, str):
            yield str(value), value
            continue
        letters = re.sub(r"[_-]", " ", value)
        if any(character.isalnum() for character in value):
            yield letters, value
        else:
            yield " ".join(unicodedata.name(one, "") for one in value if one != "\ufe0f").strip().lower(), value
    codes = [value for value in values if isinstance(value, str) and len(value) == 2]
    if len(codes) == len(values):
        yield from ((said, code) for said, code in LANGUAGES.items() if code in codes)
    for said, meant in synonyms(str(schema.get("description") or "")):
        if meant in values:
            yield said, meant

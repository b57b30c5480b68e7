"""Units of measure and their short forms."""

from __future__ import annotations

import re

from model.calling.words import stem

_SHORT = {
    short: stem(word)
    for word, shorts in {
        "kilogram": "kg kgs",
        "gram": "g",
        "pound": "lb lbs",
        "meter": "m metre metres",
        "centimeter": "cm",
        "millimeter": "mm",
        "kilometer": "km kms",
        "mile": "mi",
        "feet": "ft foot",
        "inch": "in",
        "second": "s sec secs",
        "minute": "min mins",
        "hour": "h hr hrs",
        "kelvin": "k",
        "celsius": "c °c",
        "fahrenheit": "f °f",
        "ampere": "a amp amps",
        "volt": "v",
        "watt": "w",
        "hertz": "hz",
        "newton": "n",
        "joule": "j",
        "liter": "l litre litres",
        "percentage": "% percent",
    }.items()
    for short in shorts.split()
}
_TIMES = frozenset(map(stem, "day week month year".split()))


def same_unit(one: str, other: str) -> bool:
    """Whether two words name the same unit: `kg` and `kilograms`."""
    return _plain(one) == _plain(other)


def known_unit(word: str) -> bool:
    """Whether the word is a unit, or one by another: `km/h`."""
    if "/" in word:
        return all(map(known_unit, re.sub(r"\^?\d$|[²³]$", "", word).split("/")))
    return word.casefold() in _SHORT or stem(word) in _SHORT.values() or stem(word) in _TIMES


def _plain(word: str) -> str:
    return _SHORT.get(word.casefold(), stem(word))

"""What a mention would be as the value of a parameter, and how well its form fits."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from typing import Any

from model.calling.airports import airport
from model.calling.codes import country, currency, language
from model.calling.mentions import Mention
from model.calling.slots import Slot, described, items_of
from model.calling.units import known_unit, same_unit
from model.calling.words import LIGHT, stem, stems

_IDENTIFIER = frozenset(map(stem, "id identifier number code zip phone no postal ssn version account".split()))
_MONEY = frozenset(map(stem, "amount price cost budget income revenue loan payment salary money dollar invest".split()))
_RATE = frozenset(
    map(stem, "rate percentage percent yield interest probability ratio share discount return tax".split())
)
_TITLED = frozenset(map(stem, "name title company person city country location place species artist author".split()))
_WRITTEN = frozenset(map(stem, "text content contents body code new old message summary script patch prompt".split()))
_COUNTS = frozenset(map(stem, "count num number limit quantity".split()))
_BARE = frozenset(map(stem, "num number".split()))
_DATE, _CURRENCY, _COUNTRY, _LANGUAGE = map(stem, ("date", "currency", "country", "language"))
_FROM, _TO = frozenset(map(stem, "from base source".split())), frozenset(map(stem, "to target destination".split()))
_DATE_FORMS = {
    "YYYY-MM-DD": "%Y-%m-%d",
    "MM/DD/YYYY": "%m/%d/%Y",
    "DD/MM/YYYY": "%d/%m/%Y",
    "MM-DD-YYYY": "%m-%d-%Y",
    "DD-MM-YYYY": "%d-%m-%Y",
}
_UNITS = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+(?:\^?\d|[²³])?)?|°\w|%")  # `m/s` is one
_LIGHT_NEXT = re.compile(rf"\s(?:{'|'.join(sorted(LIGHT))})\b")
_UNIT = re.compile(rf"\s?-?({_UNITS.pattern})")
_FORMS = {"quoted": 2.0, "name": 1.0, "code": 0.3, "phrase": -0.8, "rest": -0.5}


def value_of(slot: Slot, mention: Mention, text: str, about: frozenset[str]) -> tuple[Any, float] | None:
    """The value and its score; None where the mention could be none. It may still be one that the schema refuses.
    `about`: stems of what the tool does, which are seldom values."""
    if slot.numeric:
        return _number(slot, mention, text)
    if slot.kind == "array":
        return _array(slot, mention, text, about)
    return _string(slot, mention, text, about) if slot.kind == "string" else None


def _number(slot: Slot, mention: Mention, text: str) -> tuple[Any, float] | None:
    if mention.kind != "number" or not isinstance(mention.value, float):
        return None
    value, score = mention.value, 0.0
    description = described(slot.schema)
    if mention.percent:
        if slot.kind == "number" and not re.search(r"percent|%", description, re.IGNORECASE):
            value /= 100
        score += 0.0 if _RATE & slot.weights.keys() else -1.0
    if slot.name.casefold() in ("year", "years") or re.match(r"year\d?$", slot.name):
        plain = re.fullmatch(r"[12]\d{3}", text[mention.start : mention.end])
        score += (2.0 if plain else -2.0) * (slot.name.casefold() != "years")
    if mention.money:
        score += 1.0 if _MONEY & slot.weights.keys() else -0.3
    if mention.spelt:
        score += 2.4 if _counts(slot) else -0.8  # perhaps no quantity: "one of them"
    unit = _UNIT.match(text, mention.end)
    if unit and any(same_unit(unit[1], name) for name in _UNITS.findall(f"{description} {slot.name}")):
        score += 1.2
    elif unit and _counts(slot) and not mention.spelt and not known_unit(unit[1]):
        score += 1.9  # `12 chairs`
    return _whole(value), score


def _counts(slot: Slot) -> bool:
    """Whether the parameter says how many, as `count` and `num_rooms` do but `num1` does not."""
    own = set(stems(slot.name))
    return bool(own & _COUNTS) and not re.search(r"\d", slot.name) and (len(own) > 1 or not own <= _BARE)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _array(slot: Slot, mention: Mention, text: str, about: frozenset[str]) -> tuple[Any, float] | None:
    single = replace(slot, schema={**items_of(slot.schema), "description": described(slot.schema)})
    if mention.kind != "list":
        one = value_of(single, mention, text, about)
        return ([one[0]], one[1] - 0.3) if one else None
    if not mention.parts:
        values = [_whole(one) for one in mention.value] if isinstance(mention.value, list) else []
        return [str(one) if single.kind == "string" else one for one in values], 2.5
    members = [value_of(single, part, text, about) for part in mention.parts]
    if None in members:
        return None
    return [one[0] for one in members if one], 1.0 + max(one[1] for one in members if one)


def _string(slot: Slot, mention: Mention, text: str, about: frozenset[str]) -> tuple[Any, float] | None:
    description, pattern, value = described(slot.schema), str(slot.schema.get("pattern") or ""), mention.value
    own = set(stems(slot.name))
    dated = _DATE in own or slot.schema.get("format") == "date" or "YYYY" in description
    timed = slot.schema.get("format") == "time" or ":[0-9]" in pattern or "HH:MM" in description
    if mention.kind == "date":
        return _date(
            mention, text, description, pattern or str(slot.schema.get("format") or "")
        ), 4.0 if dated else -3.0
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M"), 4.0 if timed else -2.0
    score = -3.0 if dated or timed else 0.0
    if mention.kind == "number":
        return str(_whole(value)), score + (1.0 if _IDENTIFIER & own else -2.0)
    if not isinstance(value, str):
        return None
    words = [stem(word) for word in re.findall(r"[^\W\d_]+", value)]
    spelt = "" if re.search(r"\d", value) else " ".join(words)
    known = slot.vocabulary.get(value.casefold(), slot.vocabulary.get(spelt))
    if known is not None:
        return known, score + 3.0
    if "unit" in own and (text[: mention.start].endswith(" in ") or not mention.start):
        measured = re.sub(r"^(?:square|cubic)\s", "", value)
        if " " not in measured and known_unit(measured):
            return value, score + 3.5
    if (code := _coded(own, value, description)) is not None:
        paid = bool(re.search(r"\d\s?$", text[: mention.start]))  # `5 euros` are what is changed, not into what
        parts = {stem(part) for part in re.findall(r"[A-Z]?[a-z]+", slot.name)}
        role = (paid - 0.5) * (bool(_FROM & parts) - bool(_TO & parts))
        return code, score + 2.5 + 0.5 * value.count(" ") + role
    score += 1.0 if mention.kind == "code" and _IDENTIFIER & own else _FORMS[mention.kind]
    if re.search(r"\d\s?$", text[: mention.start]):  # what is counted, or the unit
        score += 2.5 if "unit" in own and " " not in value else -2.0
    if mention.kind == "name" and _TITLED & slot.weights.keys():
        score += 0.7
    if mention.kind == "name" and "," in value:
        score += -0.6 if slot.divided else 1.2 if re.search(r"\bstate\b|[a-z], [A-Z]", description) else 0.4
    if mention.kind == "name" and words and words[-1] in own - _IDENTIFIER and len(words) > 1:
        score += 1.5  # `Kent County` is a county
    if mention.kind == "rest":
        return value, score + 3.0 * bool(_WRITTEN & slot.weights.keys())
    if mention.kind != "quoted" and _WRITTEN & own:
        score -= 2.5  # new text is seldom said word for word
    if mention.kind == "phrase":
        score += _phrase(slot, mention, text, value)
    if mention.kind != "quoted" and words and all(word in about or word in slot.weights for word in words):
        score -= 1.5
    return value, score


def _coded(own: set[str], value: str, description: str) -> str | None:
    """What stands for the value where parameters of such a name are written in a form of their own."""
    if _CURRENCY in own:
        return currency(value)
    if _COUNTRY in own:
        return country(value)
    if re.search(r"\bIATA\b|\bairport codes?\b", description, re.IGNORECASE):
        return airport(value)
    short = re.search(r"\bcode\b|\bISO\b|['\"(][a-z]{2}['\")]", description)
    return language(value) if _LANGUAGE in own and short else None


def _phrase(slot: Slot, mention: Mention, text: str, value: str) -> float:
    """Against a run of words: that it begins a sentence, as orders do, or with a count. For it: that it is a thing
    named after something, as in `the London office`."""
    if re.search(r"[a-z]ly$", value):
        return -1.5
    begins = not re.search(r"[\w,]\s*$", text[: mention.start])
    if begins or re.match(r"\d|(?:one|two|three|four|five|ten)\b", value):
        return -1.5
    beside = re.match(r"\s([A-Z]\w*)", text[mention.end :])
    torn = value[:1].isupper() and beside and stem(beside[1]) not in slot.weights  # a part of a name
    if torn or re.search(r"\s\S*\d|\d\S*\s", value):
        return -1.5
    whole = not re.match(r"\s[a-z]", text[mention.end :]) or _LIGHT_NEXT.match(text, mention.end)
    named = re.match(r"[A-ZÀ-Þ]\w+\s([a-z]\w+)$", value) if whole else None
    article = re.search(r"\b(?:the|a|an)\s$", text[: mention.start], re.IGNORECASE)
    return 3.0 if named and article and stem(named[1]) not in slot.weights else 0.0


def _date(mention: Mention, text: str, description: str, form: str) -> str:
    """A date in the form that the schema asks for, else as it was said. `form`: a pattern, or the schema's format."""
    asked = next((written for sign, written in _DATE_FORMS.items() if sign in description.upper()), "")
    if not isinstance(mention.value, datetime.date) or not (asked or form):
        return text[mention.start : mention.end]
    return mention.value.strftime(asked or "%Y-%m-%d")

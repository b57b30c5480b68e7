"""Dates and times of day in English text. Imports no torch."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?P<month>" + "|".join(f"{one[:3]}(?:{one[3:]})?" if len(one) > 3 else one for one in _MONTHS) + r")\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_FORMS = [
    re.compile(r"\b(?P<year>\d{4})[-/](?P<number>\d{2})[-/](?P<day>\d{2})\b"),
    re.compile(r"\b(?P<number>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b"),
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bsince )){_MONTH}\b(?P<day>){_YEAR}", re.IGNORECASE),
    re.compile(r"\bchristmas(?:\s+day)?(?P<christmas>)" + _YEAR, re.IGNORECASE),
]
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_RELATIVE = re.compile(
    r"\b(?:(?P<later>a week later)|(?P<near>today|tonight|yesterday|the day after tomorrow|tomorrow)"
    r"|in (?P<many>\d+|a|one|two|three) (?P<unit>day|week)s?|(?:(?:this|next)\s+(?:coming\s+)?)?(?P<weekday>"
    + "|".join(_WEEKDAYS)
    + r"))\b",
    re.IGNORECASE,
)
_NEAR = {"yesterday": -1, "tomorrow": 1, "the day after tomorrow": 2}
_FEW = {"a": 1, "one": 1, "two": 2, "three": 3}
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s?(?P<half>[ap])\.?m\b\.?"
    r"|\b(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)\b|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)


def dates(text: str, today: datetime.date | None = None) -> Iterator[tuple[int, int, datetime.date | str]]:
    """(start, end, date) of each date of a text. A year that is not said is that of the next date that says one, or of
    the last; where none does, it is the first in which the date is not over yet. Where `today` would have to be known
    and is not, a date stays as it is written."""
    forms = (*_FORMS, _RELATIVE)
    hits = sorted((hit for form in forms for hit in form.finditer(text)), key=lambda hit: (hit.start(), -hit.end()))
    years = [(hit.start(), int(year)) for hit in hits if (year := hit.groupdict().get("year"))]
    end, before = -1, today
    for hit in hits:
        if hit.start() < end:
            continue
        end = hit.end()
        if hit.re is _RELATIVE:
            date = _relative(hit, today, before)
        else:
            date = _date(hit, next((year for at, year in years if at >= hit.start()), years[-1][1] if years else None))
            if not years and today:
                coming = (_date(hit, today.year + more) for more in (0, 1))
                date = next((one for one in coming if one and one >= today), None)
        before = date or before
        yield hit.start(), hit.end(), date or hit[0]


def _relative(hit: re.Match[str], today: datetime.date | None, before: datetime.date | None) -> datetime.date | None:
    """`before` is the date that was said last: a weekday is the next such day behind it."""
    if hit["near"]:
        return today and today + datetime.timedelta(_NEAR.get(hit["near"].lower(), 0))
    if hit["many"]:
        number = _FEW.get(hit["many"].lower()) or int(hit["many"])
        return today and today + datetime.timedelta(number * (7 if hit["unit"].lower() == "week" else 1))
    if before is None:
        return None
    if hit["later"]:
        return before + datetime.timedelta(7)
    ahead = (_WEEKDAYS.index(hit["weekday"].lower()) - before.weekday() - 1) % 7 + 1
    return before + datetime.timedelta(ahead)


def _date(hit: re.Match[str], year: int | None) -> datetime.date | None:
    parts = hit.groupdict()
    if year is None or parts.get("day") == "":
        return None  # a month
    if "christmas" in parts:
        return datetime.date(year, 12, 25)
    number = int(parts.get("number") or 0) or 1 + [one[:3] for one in _MONTHS].index(parts["month"][:3].lower())
    try:
        return datetime.date(year, number, int(parts["day"]))
    except ValueError:
        return None


def times(text: str) -> Iterator[tuple[int, int, datetime.time]]:
    """(start, end, time of day) of each time of a text."""
    for hit in _TIME.finditer(text):
        if hit["word"]:
            yield hit.start(), hit.end(), datetime.time(12 if hit["word"].lower() == "noon" else 0)
            continue
        hour, minute = int(hit["hour"] or hit["hour24"]), int(hit["minute"] or hit["minute24"] or 0)
        if hit["half"]:
            hour = hour % 12 + (12 if hit["half"].lower() == "p" else 0)
        if hour < 24 and minute < 60:
            yield hit.start(), hit.end(), datetime.time(hour, minute)

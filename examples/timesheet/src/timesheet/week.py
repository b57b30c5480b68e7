"""Grouping of entries by ISO week, and overtime."""

from collections import defaultdict

from timesheet.entry import Entry

Week = tuple[int, int]


def week_of(entry: Entry) -> Week:
    year, week, _ = entry.day.isocalendar()
    return year, week


def by_week(entries: list[Entry]) -> dict[Week, list[Entry]]:
    weeks = defaultdict(list)
    for entry in entries:
        weeks[week_of(entry)].append(entry)
    return dict(weeks)


def total_hours(entries: list[Entry]) -> float:
    return sum(entry.hours for entry in entries)


def overtime(entries: list[Entry], contract: float = 40.0) -> float:
    return max(0.0, total_hours(entries) - contract)

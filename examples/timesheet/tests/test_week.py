import pytest

from timesheet import parse_entries, weekly_report
from timesheet.week import by_week, overtime, total_hours

FULL = "\n".join(f"2025-03-0{day} 8:00-17:00 build" for day in range(3, 8))


def test_weeks_start_on_monday():
    weeks = by_week(parse_entries("2025-03-02 9:00-10:00\n2025-03-03 9:00-10:00\n"))
    assert sorted(weeks) == [(2025, 9), (2025, 10)]


def test_total_and_overtime():
    entries = parse_entries(FULL)
    assert total_hours(entries) == 45
    assert overtime(entries) == 5
    assert overtime(entries, contract=50) == 0


def test_report_shows_overtime():
    assert weekly_report(parse_entries(FULL)) == "2025-W10   45.00 h  (+5.00 h)"


def test_report_counts_overlaps():
    text = "2025-03-03 9:00-12:00\n2025-03-03 11:00-13:00\n"
    assert weekly_report(parse_entries(text)) == "2025-W10    5.00 h  1 overlapping"


def test_report_of_nothing():
    assert weekly_report([]) == ""

import pytest

from timesheet.checks import missing_breaks, overlap, overlaps
from timesheet.parser import parse_entries, parse_line


def pair(first, second):
    return parse_line(f"2025-03-03 {first}"), parse_line(f"2025-03-03 {second}")


@pytest.mark.parametrize(
    "first, second, expected",
    [
        ("09:00-12:00", "11:00-13:00", True),
        ("11:00-13:00", "09:00-12:00", True),
        ("09:00-17:00", "10:00-11:00", True),
        ("09:00-10:00", "11:00-12:00", False),
        ("11:00-12:00", "09:00-10:00", False),
    ],
)
def test_overlap(first, second, expected):
    assert overlap(*pair(first, second)) is expected


def test_touching_entries_do_not_overlap():
    assert not overlap(*pair("09:00-12:00", "12:00-13:00"))
    assert not overlap(*pair("12:00-13:00", "09:00-12:00"))


def test_overlaps_lists_each_pair_once():
    entries = parse_entries("2025-03-03 9:00-12:00\n2025-03-03 10:00-11:00\n2025-03-03 11:30-13:00\n")
    assert len(overlaps(entries)) == 2


def test_missing_breaks():
    entries = parse_entries("2025-03-03 8:00-14:00\n2025-03-04 8:00-14:30\n")
    assert missing_breaks(entries) == entries[1:]

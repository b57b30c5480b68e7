from datetime import date, datetime

import pytest

from timesheet import Entry


def test_hours():
    entry = Entry(datetime(2025, 3, 3, 9), datetime(2025, 3, 3, 17, 30))
    assert entry.hours == 8.5
    assert entry.day == date(2025, 3, 3)


def test_must_end_after_start():
    with pytest.raises(ValueError, match="end after"):
        Entry(datetime(2025, 3, 3, 9), datetime(2025, 3, 3, 9))


def test_entries_sort_by_start():
    late = Entry(datetime(2025, 3, 3, 13), datetime(2025, 3, 3, 14))
    early = Entry(datetime(2025, 3, 3, 9), datetime(2025, 3, 3, 18))
    assert sorted([late, early]) == [early, late]

import pytest

from timesheet import ParseError, parse_entries
from timesheet.parser import parse_line


def test_task_is_optional():
    assert parse_line("2025-03-03 09:00-12:00").task == "work"
    assert parse_line("2025-03-03 09:00-12:00 on call").task == "on call"


def test_spaces_around_the_dash():
    assert parse_line("2025-03-03  9:00 - 12:15").hours == 3.25


def test_comments_and_blank_lines():
    assert len(parse_entries("# march\n\n2025-03-03 9:00-12:00\n  # lunch\n2025-03-03 13:00-15:00\n")) == 2


def test_entries_come_sorted():
    entries = parse_entries("2025-03-04 9:00-10:00\n2025-03-03 9:00-10:00\n")
    assert entries[0].day < entries[1].day


@pytest.mark.parametrize("line", ["lunch", "2025-03-03 9-10", "2025-03-03 09:00"])
def test_error_names_the_line(line):
    with pytest.raises(ParseError) as error:
        parse_entries("2025-03-03 9:00-10:00\n" + line)
    assert error.value.number == 2

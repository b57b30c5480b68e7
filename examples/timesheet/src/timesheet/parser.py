"""Entries from lines of text."""

import re
from datetime import datetime

from timesheet.entry import Entry

LINE = re.compile(r"(\d{4}-\d\d-\d\d)\s+(\d\d?:\d\d)\s*-\s*(\d\d?:\d\d)(?:\s+(.+))?")


class ParseError(ValueError):
    def __init__(self, number: int, line: str):
        super().__init__(f"line {number} is not an entry: {line!r}")
        self.number = number


def parse_line(line: str, number: int = 1) -> Entry:
    match = LINE.fullmatch(line.strip())
    if match is None:
        raise ParseError(number, line)
    day, start, end, task = match.groups()
    return Entry(
        datetime.strptime(f"{day} {start}", "%Y-%m-%d %H:%M"),
        datetime.strptime(f"{day} {end}", "%Y-%m-%d %H:%M"),
        task or "work",
    )


def parse_entries(text: str) -> list[Entry]:
    """All entries of `text`, sorted. Blank lines and lines that start with # are comments."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entries.append(parse_line(line, number))
    return sorted(entries)

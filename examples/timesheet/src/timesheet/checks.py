"""What can be wrong with a list of entries."""

from datetime import timedelta

from timesheet.entry import Entry


def overlap(first: Entry, second: Entry) -> bool:
    """Whether the two entries share any time. Entries that only touch do not overlap."""
    return first.start <= second.end and second.start < first.end


def overlaps(entries: list[Entry]) -> list[tuple[Entry, Entry]]:
    found = []
    for index, first in enumerate(entries):
        for second in entries[index + 1 :]:
            if overlap(first, second):
                found.append((first, second))
    return found


def missing_breaks(entries: list[Entry], limit: timedelta = timedelta(hours=6)) -> list[Entry]:
    """Entries that run longer than `limit` without a break."""
    return [entry for entry in entries if entry.duration > limit]

"""The weekly report as text."""

from timesheet.checks import overlaps
from timesheet.entry import Entry
from timesheet.week import by_week, overtime, total_hours


def weekly_report(entries: list[Entry], contract: float = 40.0) -> str:
    lines = []
    for (year, week), group in sorted(by_week(entries).items()):
        line = f"{year}-W{week:02d}  {total_hours(group):6.2f} h"
        extra = overtime(group, contract)
        if extra:
            line += f"  (+{extra:.2f} h)"
        clashes = len(overlaps(group))
        if clashes:
            line += f"  {clashes} overlapping"
        lines.append(line)
    return "\n".join(lines)

"""`python -m benchmarks.hostile`: the forty hostile behaviours on every rung of this machine, as a Markdown table."""

from __future__ import annotations

import sys

from benchmarks import tables
from sandbox.hostile.behaviours import NAMES, Finding
from sandbox.hostile.rungs import NotHere, examine_at, places


def main() -> int:
    """Prints the table and saves how many were contained; the exit status is 1 if anything leaked."""
    columns: dict[str, dict[int, Finding]] = {}
    for place in places():
        print(f"{place} …", file=sys.stderr, flush=True)
        try:
            columns[str(place)] = {finding.number: finding for finding in examine_at(place)}
        except NotHere as reason:
            print(f"{place}: not on this machine: {reason}", file=sys.stderr)
    print("| # | behaviour |", " | ".join(columns), "|")
    print("|---|---|" + "---|" * len(columns))
    for number, name in NAMES.items():
        cells = [_cell(findings[number]) for findings in columns.values()]
        print(f"| {number} | {name} |", " | ".join(cells), "|")
    held = [sum(not finding.leaks for finding in findings.values()) for findings in columns.values()]
    print("| | contained |", " | ".join(f"{count} of {len(NAMES)}" for count in held), "|")
    rows = [(place, f"{count} of {len(NAMES)}") for place, count in zip(columns, held)]
    note = f"{len(NAMES)} hostile behaviours, each against canaries; docs name what leaked and why."
    tables.save("hostile", ("level of the sandbox", "contained"), rows, note, "python -m benchmarks.hostile")
    return int(any(count < len(NAMES) for count in held))


def _cell(finding: Finding) -> str:
    remark = f" ({finding.remark})" if finding.remark else ""
    return f"**{', '.join(finding.leaks)}**{remark}" if finding.leaks else f"held{remark}"


if __name__ == "__main__":
    sys.exit(main())

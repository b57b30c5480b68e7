"""The tables of the README, made from what was measured: `python -m benchmarks.tables`.

A benchmark hands its table to `save`: a JSON file under benchmarks/results/. This command renders each file between
its markers, `<!-- table NAME -->` and `<!-- end NAME -->`, in README.md, benchmarks/README.md and docs/sprig.md. A
table without a file stays empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (ROOT / "README.md", ROOT / "benchmarks" / "README.md", ROOT / "docs" / "sprig.md")
MARKED = re.compile(r"(<!-- table (?P<name>[\w-]+) -->\n)(.*?)(<!-- end (?P=name) -->)", re.DOTALL)


@dataclass(frozen=True)
class Table:
    """`note` says on what data and how many (n); `command` makes the table again; `save` fills in machine and date."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    command: str
    machine: str = ""
    date: str = ""

    def markdown(self) -> str:
        rows = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([*lines, "", f"{self.note} `{self.command}` on {self.machine}, {self.date}."]) + "\n"


def save(name: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str, command: str) -> Path:
    """Write the table `name` to benchmarks/results/NAME.json, with the machine and the day."""
    cells = tuple(tuple(str(cell) for cell in row) for row in rows)
    table = Table(tuple(columns), cells, note, command, machine(), f"{datetime.now(UTC):%Y-%m-%d}")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(asdict(table), indent=1, ensure_ascii=False) + "\n")
    return path


def load(path: Path) -> Table:
    row = json.loads(path.read_text())
    return Table(**{**row, "columns": tuple(row["columns"]), "rows": tuple(map(tuple, row["rows"]))})


def machine() -> str:
    """Cores and processor, as a table should name them."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = " ".join(line.split(":", 1)[1].split())
            break
    cores = len(os.sched_getaffinity(0))
    return f"{cores} core{'s' if cores > 1 else ''} of {model}"


def render(page: str, results: Path) -> str:
    """The page with every marked table made anew from its file."""

    def filled(match: re.Match[str]) -> str:
        path = results / f"{match['name']}.json"
        return match[1] + (load(path).markdown() if path.exists() else "") + match[4]

    return MARKED.sub(filled, page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the pages are up to date")
    arguments = parser.parse_args()
    stale = [page for page in PAGES if page.read_text() != render(page.read_text(), RESULTS)]
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'out of date' if arguments.check else 'written'}")
        if not arguments.check:
            page.write_text(render(page.read_text(), RESULTS))
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The tables of the injected bugs, from what `run` noted: `python -m benchmarks.injected.summary`.

A repaired file that is not the original's program counts as "as the original" when a person who read the difference
says in read.jsonl that it behaves the same. `--unread` prints the differences that nobody has read yet.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables
from benchmarks.injected import bugs as listing
from benchmarks.injected.bugs import Bug
from benchmarks.injected.run import FOLDER, MODES, Result, load

READ = Path(__file__).with_name("read.jsonl")
TITLES = {
    "full": "all",
    "no-ranking": "without the model's ranking",
    "tree-edits": "tree edits only",
    "block-writing": "tree edits and block writing, nothing read before",
    "rewriting": "the model's rewriting only",
}


@dataclass(frozen=True)
class Tally:
    """What came of some bugs; `seconds` of the repaired ones, `tried` of all."""

    bugs: int
    repaired: int
    alike: int
    seconds: float | None
    tried: float | None

    def cells(self) -> tuple[str, ...]:
        seconds = "" if self.seconds is None else f"{self.seconds:.0f} s"
        tried = "" if self.tried is None else f"{self.tried:,.0f}"
        return str(self.bugs), share(self.repaired, self.bugs), share(self.alike, self.bugs), seconds, tried


COLUMNS = ("n", "repaired", "first patch as the original", "median seconds of the repaired", "candidates tried, median")


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def tally(results: Sequence[Result], judged: dict[tuple[str, str], bool]) -> Tally:
    repaired = [result for result in results if result.repaired]
    alike = [result for result in repaired if result.original or judged.get((result.id, result.patched))]
    return Tally(
        len(results),
        len(repaired),
        len(alike),
        statistics.median(result.seconds for result in repaired) if repaired else None,
        statistics.median(result.tried for result in results) if results else None,
    )


def judgements() -> dict[tuple[str, str], bool]:
    """Whether the patched file of a bug behaves like the original, by bug and fingerprint of the file."""
    rows = map(json.loads, READ.read_text().splitlines()) if READ.exists() else ()
    return {(row["id"], row["patched"]): row["alike"] for row in rows}


def unread(results: Iterable[Result], judged: dict[tuple[str, str], bool]) -> list[Result]:
    return [r for r in results if r.repaired and not r.original and (r.id, r.patched) not in judged]


def groups(bugs: Sequence[Bug]) -> dict[str, list[Bug]]:
    return {
        "all": list(bugs),
        "one tree edit undoes it": [bug for bug in bugs if bug.single_edit],
        "no single tree edit undoes it": [bug for bug in bugs if not bug.single_edit],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--unread", action="store_true", help="print the differences that nobody has read")
    arguments = parser.parse_args()
    bugs = [bug for bug in listing.load() if bug.half == arguments.half]
    known = {bug.id: bug for bug in bugs}
    by_mode = {mode: load(FOLDER / f"{mode}.jsonl") for mode in MODES}
    judged = judgements()
    if arguments.unread:
        for result in unread((r for done in by_mode.values() for r in done.values() if r.id in known), judged):
            print(f"=== {result.id} {result.patched} {known[result.id].edits}\n{result.diff}")
        return

    def row(title: str, chosen: Sequence[Bug], mode: str = "full") -> list[tuple[str, ...]]:
        """What came of some bugs; nothing until all were run: the list is in the order of difficulty, so that a part of
        it stands for itself alone."""
        done = [by_mode[mode][bug.id] for bug in chosen if bug.id in by_mode[mode]]
        return [(title, *tally(done, judged).cells())] if len(done) == len(chosen) else []

    names = sorted({bug.package for bug in bugs})
    where = (
        f"Bugs injected into {', '.join(names)}; at most 120 s each; patches not read by a person count as different."
    )
    left = sum(bug.id not in by_mode["full"] for bug in bugs)
    where += f" {left} of {len(bugs)} are still to be run; only groups that were run whole are shown." if left else ""
    command = "python -m benchmarks.injected.run --half test"
    rows = [one for title, chosen in groups(bugs).items() for one in row(title, chosen)]
    families = dict.fromkeys(bug.family for bug in bugs)
    kinds = [one for family in families for one in row(family, [bug for bug in bugs if bug.family == family])]
    forty = listing.ablation_forty(listing.load())
    modes = [one for mode in MODES for one in row(TITLES[mode], forty, mode)]
    ablation = f"A fixed forty of them. {where}"
    if arguments.half == "test" and by_mode["full"]:
        tables.save("injected", ("bugs", *COLUMNS), rows, where, command)
        tables.save("injected-kinds", ("pattern", *COLUMNS), kinds, where, command)
        if modes:
            tables.save("injected-modes", ("search", *COLUMNS), modes, ablation, f"{command} --forty --mode MODE")
    for row in [*rows, *kinds, *modes]:
        print("  ".join(f"{cell:>12}" for cell in row))


if __name__ == "__main__":
    main()

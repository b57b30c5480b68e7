"""Writes bugs.jsonl: `python -m benchmarks.injected.inject`. Seeded, reproducible, and resumable bug by bug.

Each bug has its own slot with its own seed. A slot draws package, function and change until the package's own tests
tell the change apart: at least one of them fails within the time limit, the same ones twice, and at most half of all.
Where a bug is made of two changes, each of them alone must make a test fail, so that undoing one is not enough.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.injected import bugs as listing
from benchmarks.injected.bugs import Bug, Edit
from benchmarks.injected.code import FunctionNode, Site, SourceFile, apply_changes, body_nodes
from benchmarks.injected.families import FAMILIES, Family
from benchmarks.injected.larger import LARGER, Changes
from benchmarks.injected.packages import Package, fresh_copy, packages, pristine
from benchmarks.injected.suites import Coverage, coverage, run_suite

SEED = 1
HALVES = ("tune", "test")
CPU_S = 20
MOST_FAILING = 0.5
ATTEMPTS = 1000
PER_FUNCTION = 2
PER_PACKAGE = 24

Writer = Callable[[SourceFile, FunctionNode, Random], Changes | None]


def slots(half: str, count: int) -> list[tuple[str, str]]:
    """(slot, family) for `count` bugs of one half: families by their shares, largest remainders first."""
    larger = {name: per_hundred * count / 100 for name, (per_hundred, _) in LARGER.items()}
    singles = count - sum(map(round, larger.values()))
    total = sum(share for share, _ in FAMILIES.values())
    exact = {name: singles * share / total for name, (share, _) in FAMILIES.items()}
    counts = {name: int(value) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: counts[name] - exact[name])[: singles - sum(counts.values())]:
        counts[name] += 1
    counts |= {name: round(value) for name, value in larger.items()}
    names = [name for name, number in counts.items() for _ in range(number)]
    return [(f"{half}-{number:03d}", name) for number, name in enumerate(names)]


def writer_of(family: Family) -> Writer:
    """A family as a writer of whole bugs: tries the nodes of a function in random order."""

    def write(source: SourceFile, function: FunctionNode, random: Random) -> Changes | None:
        nodes = list(body_nodes(function))
        for node in random.sample(nodes, len(nodes)):
            if not source.in_f_string(node) and (change := family(Site(source, function, node), random)):
                return (change,)
        return None

    return write


WRITERS: dict[str, Writer] = {name: writer_of(family) for name, (_, family) in FAMILIES.items()}
WRITERS |= {name: write for name, (_, write) in LARGER.items()}


@cache
def sources(package: Package) -> dict[str, SourceFile]:
    root = pristine(package)
    return {path.relative_to(root).as_posix(): SourceFile(listing.read(path)) for path in package.source_files(root)}


@cache
def covered_functions(package: Package) -> list[tuple[str, FunctionNode]]:
    """Functions of which at least one line is run by a test."""
    lines = coverage(package).by_line
    return [
        (path, function)
        for path, source in sources(package).items()
        for function in source.functions
        if any((path, line) in lines for line in range(function.lineno + 1, (function.end_lineno or 0) + 1))
    ]


def tests_of(source: SourceFile, path: str, changes: Changes, seen: Coverage) -> set[str]:
    """The tests that run a statement which the changes touch."""
    found: set[str] = set()
    for change in changes:
        first = source.text.count("\n", 0, change.start) + 1
        last = source.text.count("\n", 0, max(change.start, change.end - 1)) + 1
        for line in range(first, last + 1):
            found |= seen.by_line.get((path, line), frozenset())
    return found


@dataclass
class Workbench:
    """One working copy per package, in which changes are tried and taken back."""

    folder: Path

    def failing(
        self, package: Package, path: str, text: str, nodes: set[str], first_only: bool = False
    ) -> set[str] | None:
        """Those of `nodes` that fail with `text` in the file at `path`; None when a limit was hit."""
        root = self.folder / package.name
        if not root.exists():
            fresh_copy(package, root)
        original = listing.read(root / path)
        listing.write(root / path, text)
        try:
            outcomes = run_suite(root, sorted(nodes), CPU_S, first_only=first_only)
        finally:
            listing.write(root / path, original)
        return None if outcomes.by_test is None else outcomes.failed & nodes


def is_real_change(source: SourceFile, changes: Changes) -> bool:
    try:
        after = ast.parse(apply_changes(source.text, changes))
    except (SyntaxError, ValueError):
        return False
    return ast.dump(after) != ast.dump(source.tree)


Attempt = tuple[Package, str, FunctionNode, Changes]
Used = Counter[tuple[str, ...]]


def attempts(half: str, slot: str, family: str, used: Used) -> Iterator[Attempt]:
    """Changes that parse, at places that are not used up yet. The same for the same slot and the same earlier bugs."""
    random = Random(f"{SEED}:{slot}")
    chosen = [package for package in packages().values() if package.half == half]
    for _ in range(ATTEMPTS):
        package = random.choice(chosen)
        path, function = random.choice(covered_functions(package))
        changes = WRITERS[family](sources(package)[path], function, random)
        if used[package.name,] >= PER_PACKAGE or used[package.name, path, function.name] >= PER_FUNCTION:
            continue
        if changes and is_real_change(sources(package)[path], changes):
            yield package, path, function, changes


def draw(half: str, slot: str, family: str, used: Used, bench: Workbench) -> Bug | None:
    for package, path, function, changes in attempts(half, slot, family, used):
        source, seen = sources(package)[path], coverage(package)
        nodes = tests_of(source, path, changes, seen)
        if not nodes:
            continue
        failing = bench.failing(package, path, apply_changes(source.text, changes), nodes)
        if not failing or len(failing) > MOST_FAILING * len(seen.tests):
            continue
        halves = [apply_changes(source.text, (change,)) for change in changes] if len(changes) > 1 else []
        if not all(bench.failing(package, path, text, nodes, first_only=True) for text in halves):
            continue
        if failing != bench.failing(package, path, apply_changes(source.text, changes), nodes):
            continue
        return Bug(
            id=slot,
            half=half,
            package=package.name,
            version=package.version,
            path=path,
            line=source.text.count("\n", 0, changes[0].start) + 1,
            function=function.name,
            family=family,
            single_edit=family in FAMILIES,
            edits=tuple(Edit(c.start, c.end, source.text[c.start : c.end], c.after) for c in changes),
            failing=len(failing),
            tests=len(seen.tests),
        )
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=120, help="bugs in each half")
    parser.add_argument("--half", choices=HALVES, action="append", help="only this half")
    parser.add_argument("--out", type=Path, default=listing.LIST)
    arguments = parser.parse_args()
    done = {bug.id: bug for bug in listing.load(arguments.out)} if arguments.out.exists() else {}
    folder = Path(tempfile.mkdtemp(prefix="inject-"))
    try:
        for half in arguments.half or HALVES:
            used: Used = Counter()
            for slot, family in slots(half, arguments.count):
                bug = done.get(slot) or draw(half, slot, family, used, Workbench(folder))
                if bug is None:
                    print(f"{slot} {family}: nothing found", flush=True)
                    continue
                used.update([(bug.package,), (bug.package, bug.path, bug.function)])
                if slot not in done:
                    with arguments.out.open("a") as file:
                        file.write(listing.dump([bug]))
                    print(f"{slot} {family}: {bug.package} {bug.path}:{bug.line}, {bug.failing} fail", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

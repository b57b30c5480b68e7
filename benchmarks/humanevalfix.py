"""Repairs HumanEvalFix-Python with `coder.repair.search` and says what came of it.

    python -m benchmarks.humanevalfix --data DATA/humanevalfix/python_even.jsonl --remainder 2

The tool sees the buggy code with its docstring, and the tests. The reference solution is used here only, after the
fact: the repaired function and the reference are run on the tests' own inputs and on seeded mutations of them, and
count as alike when they agree on every input that the reference takes (returns for within its time limit).
One line of JSON per task goes to `--out`; tasks that stand there already are not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.alike import alike
from coder import events
from coder.config import Settings
from coder.engine import Engine
from coder.repair.context import RepairContext, Strategy
from coder.repair.search import search
from coder.repository import Repository


@dataclass(frozen=True)
class Result:
    """What came of one task. `alike` is None where nothing was repaired; `origin` is where the patch came from."""

    task: str
    repaired: bool
    alike: bool | None
    seconds: float
    tried: int
    origin: str
    edits: int
    note: str
    disagreement: str = ""


def tasks(path: Path, remainder: int) -> Iterator[dict[str, Any]]:
    """The tasks whose number is `remainder` modulo 4."""
    for line in path.read_text().splitlines():
        task = json.loads(line)
        if int(task["task_id"].rpartition("/")[2]) % 4 == remainder:
            yield task


def write_project(task: dict[str, Any], root: Path) -> None:
    """The buggy function as a module, its tests as a pytest file."""
    (root / "solution.py").write_text(task["prompt"] + task["buggy_solution"])
    body = task["test"].rstrip()
    call = f"check({task['entry_point']})"
    body = body.removesuffix(call).rstrip()
    name = task["entry_point"]
    (root / "test_solution.py").write_text(
        f"from solution import *\n\n\n{body.lstrip()}\n\n\ndef test_{name}():\n    {call}\n"
    )


def run(task: dict[str, Any], model: Any, timeout: float, strategy: Strategy, seed: int, verbose: bool) -> Result:
    from sandbox.jail import Sandbox
    from sandbox.testing.session import TestSession
    from sandbox.working_copy import WorkingCopy

    def show(event: events.Event) -> None:
        if verbose:
            print(event, file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="humanevalfix-") as folder:
        root, state = Path(folder, "project"), Path(folder, "state")
        root.mkdir()
        write_project(task, root)
        files = {name: (root / name).read_text() for name in ("solution.py", "test_solution.py")}
        with WorkingCopy.of(root, list(files)) as tree, TestSession(Sandbox.detect(), tree) as session:
            began = time.monotonic()
            baseline = session.baseline()
            context = RepairContext(
                session,
                baseline,
                files,
                baseline.failing,
                load_model=(lambda: model) if model else None,
                timeout_s=timeout - (time.monotonic() - began),
                read=partial(Engine(Repository(root), Settings(), state, Path()).reading, baseline, baseline.failing),
                strategy=strategy,
                seed=seed,
            )
            counter = Counter[str]()

            def listen(event: events.Event) -> None:
                counter[event.type] += 1
                show(event)

            proved = search(context, listen)
            seconds = time.monotonic() - began
    name = task["task_id"]
    if not proved:
        return Result(name, False, None, seconds, counter["candidate"], "", 0, "")
    patch = proved[0]
    disagreement = alike(
        patch.files["solution.py"], task["prompt"] + task["canonical_solution"], task["test"], task["entry_point"], seed
    )
    proposal = patch.proposal
    return Result(
        name,
        True,
        not disagreement,
        seconds,
        patch.tried,
        proposal.origin,
        len(proposal.edits),
        proposal.note,
        disagreement,
    )


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options that the benchmarks of all languages have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--remainder", type=int, default=2, choices=range(4))
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--only", type=int, nargs="*", default=())
    parser.add_argument("--no-model", action="store_true")
    parser.add_argument("--no-rewriting", action="store_true")
    parser.add_argument("--no-tree-edits", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    return parser


def chosen(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Result | None]]:
    """The tasks that the options ask for, each with what came of it in an earlier run."""
    done: dict[str, Result] = {}
    if options.out and options.out.exists():
        rows = [json.loads(line) for line in options.out.read_text().splitlines()]
        done = {row["task"]: Result(**row) for row in rows}
    for task in tasks(options.data, options.remainder):
        if not options.only or int(task["task_id"].rpartition("/")[2]) in options.only:
            yield task, done.get(task["task_id"])


def keep(result: Result, out: Path | None) -> None:
    """Add a line to the file of results, where there is one."""
    if out:
        with out.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def main() -> int:
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--no-ranking", action="store_true")
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    model = None
    if not options.no_model:
        from model.library import open_model

        model = open_model()
    strategy = Strategy(
        not options.no_tree_edits, not options.no_rewriting, not options.no_ranking, not options.no_memory
    )
    results: list[Result] = []
    for task, result in chosen(options):
        if result is None:
            result = run(task, model, options.timeout, strategy, options.seed, options.verbose)
            keep(result, options.out)
        results.append(result)
        print(_line(result), flush=True)
    print(summary(results, options.remainder))
    if options.remainder == 2 and not options.only and model is not None and strategy == Strategy():
        save(results, options.timeout)
    return 0


def _line(result: Result) -> str:
    state = "alike" if result.alike else "differs" if result.repaired else "-"
    figures = f"{result.task:12} {state:8} {result.seconds:6.1f} s {result.tried:6} tried"
    return f"{figures}  {result.origin:22} {result.note}  {result.disagreement}".rstrip()


def summary(results: list[Result], remainder: int) -> str:
    repaired = [result for result in results if result.repaired]
    same = sum(bool(result.alike) for result in repaired)
    data = f"HumanEvalFix-Python, ids ≡ {remainder} mod 4, n={len(results)}"
    text = f"{data}: {len(repaired)} repaired, {same} behave like the reference"
    if repaired:
        seconds = statistics.median(result.seconds for result in repaired)
        tried = statistics.median(result.tried for result in repaired)
        origins = Counter(result.origin for result in repaired).most_common()
        text += f"; median {seconds:.1f} s, {tried:.0f} candidates; by origin: {dict(origins)}"
    return text


def save(results: list[Result], timeout: float) -> None:
    """The table of the pages: the reporting ids, the whole search."""
    repaired = [result for result in results if result.repaired]
    same = sum(bool(result.alike) for result in repaired)
    seconds = statistics.median(result.seconds for result in repaired) if repaired else 0.0
    columns = ("n", "repaired", "behave like the reference", "median seconds of the repaired")
    note = (
        f"HumanEvalFix-Python, ids ≡ 2 mod 4, n={len(results)}; tests given, no bug line given, at most "
        f"{timeout:.0f} s each; behaviour compared on the tests' inputs and 200 seeded mutations of them."
    )
    command = "python -m benchmarks.humanevalfix --data DATA/humanevalfix/python_even.jsonl --remainder 2"
    tables.save("humanevalfix", columns, [(len(results), len(repaired), same, f"{seconds:.0f} s")], note, command)


if __name__ == "__main__":
    sys.exit(main())

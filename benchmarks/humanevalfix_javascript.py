"""Repairs HumanEvalFix-JavaScript with `coder.repair.search`; the tests are a command, judged by its exit code.

    python -m benchmarks.humanevalfix_javascript --data DATA/humanevalfix/js_even.jsonl --remainder 2

The tool sees the buggy code with its docstring, and the tests. Node's `console.assert` only prints, so the test file
makes it throw. One line of JSON per task goes to `--out`; tasks that stand there already are not run again.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.humanevalfix import Result, chosen, keep, parser_of
from benchmarks.node import find_node
from coder import events
from coder.repair.context import RepairContext, Strategy
from coder.repair.search import search

CODE, TEST = "solution.js", "test.js"
# One run of the tests as they are may take that long; trials are cut by what a run was seen to take.
RUN_S = 5.0


def write_project(task: dict[str, Any], root: Path) -> None:
    """The buggy function as a module, its tests as a script that ends with 0 when they pass."""
    code = task["prompt"] + task["buggy_solution"]
    names = dict.fromkeys(re.findall(r"^(?:const|let|var|function)\s+(\w+)", code, re.MULTILINE))
    shared = ", ".join([*names])
    (root / CODE).write_text(f"{code.rstrip()}\n\nmodule.exports = {{ {shared} }};\n")
    head = f"console.assert = require('node:assert');\nconst {{ {shared} }} = require('./{CODE}');\n\n"
    (root / TEST).write_text(head + task["test"].strip() + "\n")


def run(task: dict[str, Any], model: Any, timeout: float, strategy: Strategy, seed: int, verbose: bool) -> Result:
    from sandbox.contract import Limits
    from sandbox.jail import Sandbox
    from sandbox.testing.command import CommandSession
    from sandbox.working_copy import WorkingCopy

    counter = Counter[str]()

    def listen(event: events.Event) -> None:
        counter[event.type] += 1
        if verbose:
            print(event, file=sys.stderr)

    node = find_node()
    with tempfile.TemporaryDirectory(prefix="humanevalfix-") as folder:
        root = Path(folder)
        write_project(task, root)
        files = {name: (root / name).read_text() for name in (CODE, TEST)}
        command, shown = f"{node.program} {TEST}", node.folders
        with (
            WorkingCopy.of(root, list(files)) as tree,
            CommandSession(Sandbox.detect(), tree, command, Limits(wall_s=RUN_S), shown) as session,
        ):
            began = time.monotonic()
            baseline = session.baseline()
            context = RepairContext(
                session,
                baseline,
                files,
                baseline.failing,
                load_model=(lambda: model) if model else None,
                timeout_s=timeout - (time.monotonic() - began),
                strategy=strategy,
                seed=seed,
            )
            proved = search(context, listen) if baseline.failing else []
            seconds = time.monotonic() - began
    if not proved:
        return Result(task["task_id"], False, None, seconds, counter["candidate"], "", 0, "")
    patch, proposal = proved[0], proved[0].proposal
    note = f"{proposal.note} ({patch.verdict.oracle.value})"
    return Result(task["task_id"], True, None, seconds, patch.tried, proposal.origin, len(proposal.edits), note)


def main() -> int:
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no further task after so many minutes")
    options = parser.parse_args()
    model = None
    if not options.no_model:
        from model.weights.catalogue import load

        model = load()
    strategy = Strategy(not options.no_tree_edits, not options.no_rewriting)
    began = time.monotonic()
    results: list[Result] = []
    for task, result in chosen(options):
        if result is None:
            if time.monotonic() - began > 60 * options.minutes:
                print("more is to be done: call again")
                return 0
            result = run(task, model, options.timeout, strategy, options.seed, options.verbose)
            keep(result, options.out)
        results.append(result)
        state = "repaired" if result.repaired else "-"
        figures = f"{result.task:15} {state:9} {result.seconds:6.1f} s {result.tried:6} tried"
        print(f"{figures}  {result.origin:20} {result.note}".rstrip(), flush=True)
    repaired = [result for result in results if result.repaired]
    print(f"HumanEvalFix-JavaScript, ids ≡ {options.remainder} mod 4, n={len(results)}: {len(repaired)} repaired")
    if options.remainder == 2 and not options.only and model is not None and strategy == Strategy():
        save(results, options.timeout)
    return 0


def save(results: list[Result], timeout: float) -> None:
    """The table of the pages: the reporting ids, the whole search."""
    repaired = [result for result in results if result.repaired]
    seconds = statistics.median(result.seconds for result in repaired) if repaired else 0.0
    tried = statistics.median(result.tried for result in repaired) if repaired else 0
    columns = ("n", "repaired", "median seconds of the repaired", "median candidates")
    note = (
        f"HumanEvalFix-JavaScript, ids ≡ 2 mod 4, n={len(results)}; tests given, no bug line given, at most "
        f"{timeout:.0f} s each; judged by the exit code of `node test.js`, the weaker proof."
    )
    command = "python -m benchmarks.humanevalfix_javascript --data DATA/humanevalfix/js_even.jsonl --remainder 2"
    row = (len(results), len(repaired), f"{seconds:.0f} s", f"{tried:.0f}")
    tables.save("humanevalfix-javascript", columns, [row], note, command)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.candidates_per_minute`: candidates judged per minute on one core, in the sandbox.

The same one-function edits of a small project are brought before the same tests in three ways: code swapped in the
process that has collected, the project collected anew in a process that has pytest loaded, and a cold
`python -m pytest` for each. All of them run in the jail, on one core, one after the other. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import tables
from sandbox import policy
from sandbox.contract import Limits
from sandbox.jail import Sandbox
from sandbox.testing.session import TestSession
from sandbox.working_copy import WorkingCopy

FILLER = 40
"""Functions around the edited one: a module of some 400 lines."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--candidates", type=int, default=300, help="edits for the quick ways; the cold way gets a tenth"
    )
    parser.add_argument("--core", type=int, default=0, help="the core to stay on")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    sandbox = Sandbox.detect()
    with tempfile.TemporaryDirectory() as folder, _project(Path(folder)) as tree, TestSession(sandbox, tree) as session:
        tests = list(session.baseline().tests)
        ways: dict[str, tuple[int, Callable[[str], bool]]] = {
            "code swap": (options.candidates, lambda text: session.trial({"stock.py": text}, tests).passed),
            "collected anew": (
                options.candidates // 3,
                lambda text: session.trial_recollected({"stock.py": text}, tests).passed,
            ),
            "cold pytest": (options.candidates // 10, lambda text: _cold(sandbox, tree, text)),
        }
        print(f"{sandbox.level.value}; {len(tests)} tests; one core\n")
        print("| way | candidates | ms each, median | min | per minute |\n|---|---|---|---|---|")
        rates = {name: _measure(name, count, judge) for name, (count, judge) in ways.items()}
    cold = rates["cold pytest"]
    print(f"\ncode swap against cold pytest: {rates['code swap'] / cold:.0f} times")
    rows = [(name, ways[name][0], f"{rate:,.0f}", f"{rate / cold:.0f}") for name, rate in rates.items()]
    note = f"Edits inside one function of a small project, {len(tests)} tests, {sandbox.level.value}."
    columns = ("way", "candidates", "a minute", "times the cold way")
    tables.save("candidates", columns, rows, note, "python -m benchmarks.candidates_per_minute")
    return 0


def _measure(name: str, count: int, judge: Callable[[str], bool]) -> float:
    """Candidates per minute over all `count`; every fifth one is right, and must be found so."""
    judge(_candidate(1))
    spent = []
    for number in range(count):
        began = time.perf_counter()
        passed = judge(_candidate(number))
        spent.append(time.perf_counter() - began)
        if passed is not (number % 5 == 0):
            raise RuntimeError(f"{name}: candidate {number} was judged wrongly")
    rate = 60 * count / sum(spent)
    milliseconds = [1000 * seconds for seconds in spent]
    print(
        f"| {name} | {count} | {statistics.median(milliseconds):.1f} | {min(milliseconds):.1f} | {rate:.0f} |",
        flush=True,
    )
    return rate


def _candidate(number: int) -> str:
    """A new text of the module; right for multiples of five, and no two alike."""
    wrong = number % 5
    return _module(f"count * price + {number} - {number - wrong}")


RULE = """
def rule_{n}(count, price):
    \"\"\"A rule that other tests use.\"\"\"
    if count > {n}:
        return price - {n}
    total = 0
    for step in range(count):
        total += step * {n}
    return total

"""
COST = """
def cost(count, price):
    if count < 0:
        raise ValueError(count)
    return {expression}
"""


def _module(expression: str) -> str:
    return "".join(RULE.format(n=n) for n in range(FILLER)) + COST.format(expression=expression)


def _project(root: Path) -> WorkingCopy:
    cases = "\n\n".join(f"def test_rule_{n}():\n    assert rule_{n}({n}, 5) == {sum(range(n)) * n}" for n in range(8))
    names = ", ".join(f"rule_{n}" for n in range(8))
    (root / "stock.py").write_text(_module("count + price"))
    (root / "test_stock.py").write_text(
        f"from stock import cost, {names}\n\n\ndef test_cost():\n    assert cost(3, 7) == 21\n\n\n{cases}\n"
    )
    return WorkingCopy.of(root, ["stock.py", "test_stock.py"])


def _cold(sandbox: Sandbox, tree: WorkingCopy, text: str) -> bool:
    with tree.fork() as changed:
        changed.write("stock.py", text)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        done = sandbox.run(command, changed, Limits(), read_only=policy.interpreter_paths(sys.executable))
        return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())

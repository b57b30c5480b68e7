"""Repairs injected bugs and notes what came of each: `python -m benchmarks.injected.run --half test`.

Resumable: a bug that has a line in benchmarks/results/injected/MODE.jsonl is not run again.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.injected import bugs as listing
from benchmarks.injected.bugs import Bug
from benchmarks.injected.suites import coverage, run_suite
from benchmarks.tables import RESULTS, ROOT

FOLDER = RESULTS / "injected"
MODES = ("full", "no-ranking", "tree-edits", "block-writing", "rewriting")
# The command's own limit bounds the search; the baseline before it and the proof at its end come on top.
GRACE_S = 180.0


@dataclass(frozen=True)
class Result:
    """What came of one bug.

    `applied`: coder said that it repaired it; `repaired`: it did, by the package's own suite run outside of coder,
    within the limit; `original`: the file's syntax tree is the original's and no other file changed. `seconds` of the
    whole command, `tried` candidates up to the patch or the end, `origin` the kind of edit.
    """

    id: str
    status: str
    applied: bool
    repaired: bool
    original: bool
    seconds: float
    tried: int
    origin: str
    note: str
    diff: str
    patched: str
    message: str


def fix(bug: Bug, mode: str, timeout: float) -> Result:
    with tempfile.TemporaryDirectory(prefix=f"{bug.id}-") as folder:
        root = bug.lay(Path(folder) / bug.package)
        before = snapshot(root)
        arguments = [str(root), "--python", sys.executable, "--timeout", str(timeout)]
        started = time.monotonic()
        events = run_once(mode, Path(folder) / "state", arguments, timeout + GRACE_S)
        seconds = time.monotonic() - started
        end = events[-1]
        patch = next((event for event in events if event["type"] == "patch"), {})
        survived = [event for event in events if event["type"] == "candidate" and event["survived"]]
        applied = end["exit_code"] == 0
        text = listing.read(root / bug.path)
        elsewhere = {path for path, data in snapshot(root).items() if before.get(path) != data} - {bug.path}
        return Result(
            id=bug.id,
            status=end["status"],
            applied=applied,
            repaired=applied and passes(bug, root) and seconds <= timeout,
            original=applied and not elsewhere and same_program(text, bug.original()),
            seconds=round(seconds, 1),
            tried=patch.get("tried", end.get("candidates", 0)),
            origin=survived[-1]["origin"] if survived and applied else "",
            note=patch.get("note", ""),
            diff=patch.get("diff", ""),
            patched=fingerprint(text),
            message=end["message"],
        )


def run_once(mode: str, state: Path, arguments: Sequence[str], limit: float) -> list[dict[str, Any]]:
    """The events of one fix; those until it was ended if it took longer than `limit` seconds. A fix that broke ends
    with a result of our own, which holds the last line of its errors."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.injected.once", mode, str(state), *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        out, errors = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, errors = child.communicate()
    finally:
        if child.poll() is None:  # we are being interrupted
            os.killpg(child.pid, signal.SIGKILL)
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
    if not events or events[-1]["type"] != "result":
        last = (errors.strip().splitlines() or ["ended after the limit"])[-1]
        events.append({"type": "result", "status": "broken", "exit_code": child.returncode, "message": last})
    return events


def passes(bug: Bug, root: Path) -> bool:
    """Whether every test that passes in the original passes now, by plain pytest."""
    outcomes = run_suite(root, cpu_s=300).by_test or {}
    return all(outcomes.get(test) == "passed" for test in coverage(bug.owner).tests)


def same_program(one: str, other: str) -> bool:
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def snapshot(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(path: Path) -> dict[str, Result]:
    rows = path.read_text().splitlines() if path.exists() else []
    return {result.id: result for result in (Result(**json.loads(row)) for row in rows)}


def run(bugs: Iterable[Bug], mode: str, timeout: float, path: Path) -> Iterator[Result]:
    """Results of the bugs that have none in the file at `path` yet; each is added to it."""
    done = load(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for bug in bugs:
        if bug.id not in done:
            result = fix(bug, mode, timeout)
            with path.open("a") as file:
                file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
            yield result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--forty", action="store_true", help="only the fixed forty of the test half")
    parser.add_argument("--larger", action="store_true", help="only bugs that no single tree edit undoes")
    parser.add_argument("--ids", nargs="*", help="only these bugs, of either half")
    parser.add_argument("--limit", type=int, help="at most so many bugs")
    parser.add_argument("--mode", choices=MODES, default="full")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each bug")
    parser.add_argument("--out", type=Path, help="another file than benchmarks/results/injected/MODE.jsonl")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    bugs = listing.load()
    chosen = listing.ablation_forty(bugs) if arguments.forty else [bug for bug in bugs if bug.half == arguments.half]
    if arguments.ids:
        chosen = [bug for bug in bugs if bug.id in arguments.ids]
    if arguments.larger:
        chosen = [bug for bug in chosen if not bug.single_edit]
    path = arguments.out or FOLDER / f"{arguments.mode}.jsonl"
    for result in run(chosen[: arguments.limit], arguments.mode, arguments.timeout, path):
        verdict = "original" if result.original else "repaired" if result.repaired else result.status
        print(f"{result.id} {verdict} {result.seconds:.0f} s, {result.tried} tried {result.note}", flush=True)


if __name__ == "__main__":
    main()

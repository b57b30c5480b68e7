"""Single-line infilling by the trunk, judged with both sides: `python -m benchmarks.infill FILE`.

FILE is `single_line` of human-eval-infilling (JSON lines: task_id, prompt, suffix, canonical_solution, test,
entry_point). `--phase 0` takes the tasks of HumanEval ids ≡ 0 mod 4, for tuning; 2, the default, those to report.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from model.decoding.rewrite import rewrite
from model.weights.catalogue import load


def passes(task: dict[str, Any], middle: str) -> bool:
    """Runs the task's own test in a process with bounds on time and memory."""
    program = f"{task['prompt']}{middle}{task['suffix']}\n{task['test']}\ncheck({task['entry_point']})\n"

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, timeout=20, preexec_fn=bound
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def chosen(path: Path, phase: int, limit: int | None) -> list[dict[str, Any]]:
    """Tasks of one residue, spread over the problems where there is a limit."""
    tasks = [json.loads(line) for line in path.read_text().splitlines()]
    number = re.compile(r"HumanEval/(\d+)")
    kept = [task for task in tasks if int(number.search(task["task_id"]).group(1)) % 4 == phase]  # type: ignore[union-attr]
    return kept if limit is None else kept[:: max(1, len(kept) // limit)][:limit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--phase", type=int, choices=(0, 2), default=2)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--lines", type=int, default=8, help="lines of the right context that judge")
    options = parser.parse_args()
    model, tokenizer = load("smollm2", options.precision)
    tasks = chosen(options.file, options.phase, options.limit)
    greedy = picked = among = 0
    for done, task in enumerate(tasks, 1):
        suffix = "".join(task["suffix"].splitlines(keepends=True)[: options.lines])
        one = rewrite(model, tokenizer, task["prompt"], "\n" + suffix, 1, 64)
        many = rewrite(model, tokenizer, task["prompt"], "\n" + suffix, options.samples, 64)
        right = [passes(task, written.text + "\n") for written in many]
        greedy += bool(one) and passes(task, one[0].text + "\n")
        picked += bool(right) and right[0]
        among += any(right)
        print(f"{done}/{len(tasks)}: greedy {greedy}, judged {picked}, among the samples {among}", flush=True)
    rows = [
        ("greedy", greedy, f"{greedy / len(tasks):.0%}"),
        (f"best of {options.samples} by both sides", picked, f"{picked / len(tasks):.0%}"),
        ("a right one among the samples", among, f"{among / len(tasks):.0%}"),
    ]
    note = (
        f"human-eval-infilling, single line, ids ≡ {options.phase} mod 4, n = {len(tasks)}; {options.precision}; "
        "right: the task's own test passes."
    )
    command = f"python -m benchmarks.infill single_line.jsonl --phase {options.phase}"
    save("infill" if options.phase == 2 else "infill-tuning", ("way", "right", "share"), rows, note, command)


if __name__ == "__main__":
    main()

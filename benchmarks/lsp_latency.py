"""Latency of completions over a typing trace: `python -m benchmarks.lsp_latency`.

A real server process (`coder lsp`) on a folder of at least 100,000 lines (the standard library's sources, copied, in
which no package of the reporting data is). The trace (`benchmarks.typing_trace`) types into files that were taken out
of the folder, at 60 to 180 ms a key with a fixed seed, asks at every key and cancels what is superseded, as VS Code
does. In between the cursor jumps: back into text that was read, and into text that was not. One half is played while
the folder is being read, the other after. Requests are timed from sending to the answer. Whether the cache knew the
answer is read from the server's log. `--llama-cpp PYTHON` (an interpreter with `llama-cpp-python[server]`) plays the
same trace to a llama.cpp server on the same weights instead; its answers and those of `coder lsp` are kept in
runs/lsp_latency/, and the table is made of both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from benchmarks.typing_servers import Coder, LlamaCpp
from benchmarks.typing_trace import READ, Answer, play, trace

LINES = 100_000
HELD_OUT = (
    ("textwrap.py", "configparser.py", "csv.py", "heapq.py", "tokenize.py"),
    ("shlex.py", "fileinput.py", "pprint.py", "difflib.py", "gettext.py"),
)
STORE = Path("runs/lsp_latency")
_SERVER = "from coder.cli.main import run; run()"


def project(folder: Path) -> list[dict[str, str]]:
    """Copies sources into `folder` until they have enough lines; returns the held-out files' texts."""
    library = Path(sysconfig.get_paths()["stdlib"])
    held_out = {name for half in HELD_OUT for name in half}
    lines = 0
    for path in sorted(library.rglob("*.py")):
        name = path.relative_to(library)
        if "site-packages" in name.parts or "test" in name.parts or path.name in held_out:
            continue
        text = path.read_text(errors="ignore")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
        lines += text.count("\n")
        if lines > LINES:
            break
    return [{name: (library / name).read_text() for name in half} for half in HELD_OUT]


async def measure(requests: int, seed: int, llama: LlamaCpp | None) -> list[Answer]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        folder.mkdir()
        os.environ["XDG_STATE_HOME"] = scratch  # nothing that an earlier run kept
        traces = [trace(files, requests // 2, seed + half) for half, files in enumerate(project(folder))]
        if llama is not None:
            await llama.start(len(os.sched_getaffinity(0)))
            try:
                return [answer for steps in traces for answer in await play(llama, steps)]
            finally:
                await llama.stop()
        coder = Coder(folder)
        await coder.start(sys.executable, "-c", _SERVER, "lsp")
        answers = await play(coder, traces[0])
        await coder.read.wait()
        answers += await play(coder, traces[1])
        await coder.stop()
        return answers


def rows_of(answers: Sequence[Answer], tokenizer: Any) -> list[tuple[str, ...]]:
    """Latencies by phase, kind and outcome; then, by phase, what became of the requests."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    shares: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: dict[str, list[int]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == "cancelled":
            shares[answer.phase]["cancelled"] += 1
            continue
        shares[answer.phase]["answered" if answer.text.strip() else "silent"] += 1
        times[answer.phase, f"{answer.kind}, {answer.outcome}"].append(answer.seconds)
        if answer.outcome not in ("hit", "unknown"):
            times[answer.phase, f"{answer.kind}, all but hits"].append(answer.seconds)
        if answer.text.strip():
            sizes[answer.phase].append(len(tokenizer.encode(answer.text)))
    rows = []
    for (phase, kind), ordered in sorted((key, sorted(each)) for key, each in times.items()):
        late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        rows.append((phase, kind, str(len(ordered)), f"{1e3 * statistics.median(ordered):.0f}", f"{1e3 * late:.0f}"))
    for phase, counts in shares.items():
        survived = counts["answered"] + counts["silent"]
        rows.append((phase, "cancelled, of all requests", f"{counts['cancelled']} of {counts.total()}", "", ""))
        answered = f"{counts['answered']} of {survived} ({100 * counts['answered'] / max(survived, 1):.0f} %)"
        rows.append((phase, "answered, of those that survived", answered, "", ""))
        if sizes[phase]:
            rows.append((phase, "tokens of an answer, median", f"{statistics.median(sizes[phase]):.0f}", "", ""))
    return rows


def main() -> None:
    from model.tokenizer import BytePairTokenizer
    from model.weights.catalogue import fetch
    from model.weights.gguf import GGUF

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--llama-cpp", type=Path, help="an interpreter that has llama-cpp-python[server]")
    options = parser.parse_args()
    gguf = fetch("smollm2")
    llama = LlamaCpp(options.llama_cpp, gguf) if options.llama_cpp else None
    fresh = asyncio.run(measure(options.requests, options.seed, llama))
    STORE.mkdir(parents=True, exist_ok=True)
    (STORE / f"{'llama' if llama else 'coder'}.json").write_text(json.dumps([asdict(answer) for answer in fresh]))
    answers = [Answer(**row) for path in sorted(STORE.glob("*.json")) for row in json.loads(path.read_text())]
    rows = rows_of(answers, BytePairTokenizer.from_gguf(GGUF(gguf)))
    jumps = {
        name: [
            one.seconds for one in answers if one.kind == READ and (one.phase == "llama.cpp") == (name == "llama.cpp")
        ]
        for name in ("coder", "llama.cpp")
    }
    if all(jumps.values()):
        ratio = statistics.median(jumps["llama.cpp"]) / statistics.median(jumps["coder"])
        rows.append(("both", f"{READ}: p50 of llama.cpp ÷ of coder", f"{ratio:.1f}", "", ""))
    for row in rows:
        print("  ".join(row))
    note = f"`coder lsp` on a folder of {LINES:,} lines; a typing trace of at least {options.requests} requests."
    save("lsp-latency", ("when", "what", "n", "p50 ms", "p95 ms"), rows, note, "python -m benchmarks.lsp_latency")


if __name__ == "__main__":
    main()

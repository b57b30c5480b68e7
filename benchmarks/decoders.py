"""Tokens per second of the decoders on edits of code, and milliseconds of a pass by its width, in one run.

    python -m benchmarks.decoders --data DATA/humanevalfix/python_even.jsonl --remainder 2

Each task shows a function with a bug and begins its repaired version; the model goes on, and may copy: the buggy text
is given to draft-verify as a source of drafts. (Whether the model repairs anything is not asked here.) Reading the
prompt is not counted. For each task all decoders run one after the other, greedy; a ratio is that of one task, and its
median is reported. "Same text" counts the tasks whose text equals the autoregressive one token for token.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from model.decoding import autoregressive, diffusion, draft_verify
from model.decoding.draft_verify import Drafting
from model.decoding.request import Event, Finished, Generation, Settled, read
from model.speed import measure
from model.weights.catalogue import load


@dataclass(frozen=True)
class Run:
    tokens: tuple[int, ...]
    seconds: float
    passes: int


def decoders(width: int) -> dict[str, Callable[..., Iterator[Event]]]:
    def copying(model: Any, tokenizer: Any, request: Generation) -> Iterator[Event]:
        return draft_verify.generate(model, tokenizer, request, Drafting(width, preview=False))

    def drafting(model: Any, tokenizer: Any, request: Generation) -> Iterator[Event]:
        return draft_verify.generate(model, tokenizer, replace(request, sources=request.sources[1:]), Drafting(width))

    def both(model: Any, tokenizer: Any, request: Generation) -> Iterator[Event]:
        return draft_verify.generate(model, tokenizer, request, Drafting(width))

    return {
        "autoregressive": autoregressive.generate,
        "draft-verify, earlier text": copying,
        "draft-verify, the model's drafts and the prompt": drafting,
        "draft-verify, all drafts": both,
        "diffusion": diffusion.generate,
    }


def tasks(path: Path, remainder: int, limit: int | None) -> list[tuple[str, str]]:
    """A prompt and the text that may be copied, for the tasks whose number is `remainder` modulo 4."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    chosen = [row for row in rows if int(row["task_id"].rpartition("/")[2]) % 4 == remainder][:limit]
    found = []
    for row in chosen:
        buggy = row["prompt"] + row["buggy_solution"]
        begin = row["prompt"].split('"""')[0].rstrip()
        found.append((f"# This function has a bug:\n{buggy}\n# The same function, repaired:\n{begin}", buggy))
    return found


def write(generate: Callable[..., Iterator[Event]], model: Any, tokenizer: Any, request: Generation) -> Run:
    began = time.perf_counter()
    tokens: list[int] = []
    passes = 0
    for event in generate(model, tokenizer, request):
        if isinstance(event, Settled):
            tokens += event.tokens
        elif isinstance(event, Finished):
            passes = event.passes
    return Run(tuple(tokens), time.perf_counter() - began, passes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--remainder", type=int, default=2, help="ids ≡ this mod 4; 0 is for tuning, 2 for reporting")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--precisions", nargs="+", default=["int8", "fp32"])
    parser.add_argument("--max-tokens", type=int, nargs="+", default=[32, 160])
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--without", nargs="*", default=[], help="decoders to leave out, by the name in the table")
    options = parser.parse_args()
    chosen = tasks(options.data, options.remainder, options.limit)
    rows: list[list[str]] = []
    widths: list[list[str]] = []
    for precision in options.precisions:
        model, tokenizer = load(options.model, precision=precision)
        figures = measure(model, tokenizer)
        widths.append([precision, *(f"{value:.1f}" for value in figures.values())])
        known = {name: one for name, one in decoders(options.width).items() if name not in options.without}
        for limit in options.max_tokens:
            runs: dict[str, list[Run]] = defaultdict(list)
            for prompt, source in chosen:
                ids = tokenizer.encode(prompt)
                request = Generation(prompt=ids[-1:], max_tokens=limit, sources=(tokenizer.encode(source), ids))
                before = read(model, ids[:-1], model.start(), request.cancel)
                for name, generate in known.items():
                    runs[name].append(write(generate, model, tokenizer, replace(request, start=before)))
            rows += [[precision, str(limit), *row] for row in compare(runs)]
    note = f"HumanEvalFix-Python, ids ≡ {options.remainder} mod 4, n={len(chosen)}, {options.model}, "
    note += f"drafts up to {options.width}."
    columns = ["precision", "at most", "decoder", "tokens/s", "against autoregressive", "tokens a pass", "same text"]
    command = "python -m benchmarks.decoders --data DATA/humanevalfix/python_even.jsonl"
    command += f" --precisions {' '.join(options.precisions)} --max-tokens {' '.join(map(str, options.max_tokens))}"
    command += f" --limit {options.limit}" if options.limit else ""
    print("\n".join("  ".join(row) for row in [columns, *rows]))
    save("decoders", columns, rows, note, command)
    names = ["precision", *figures]
    print("\n".join("  ".join(row) for row in [names, *widths]))
    save("widths", names, widths, f"{options.model}, medians of three; writing is repetitive text.", command)


def compare(runs: dict[str, list[Run]]) -> list[list[str]]:
    """A row for each decoder; the first one is what the others are held against."""
    base = next(iter(runs.values()))
    rows = []
    for name, mine in runs.items():
        rates = [len(run.tokens) / run.seconds for run in mine]
        ratios = [rate * one.seconds / max(len(one.tokens), 1) for rate, one in zip(rates, base, strict=True)]
        per_pass = sum(len(run.tokens) for run in mine) / max(sum(run.passes for run in mine), 1)
        same = sum(run.tokens == one.tokens for run, one in zip(mine, base, strict=True))
        median = statistics.median
        rows.append([name, f"{median(rates):.1f}", f"{median(ratios):.2f}", f"{per_pass:.2f}", f"{same}/{len(mine)}"])
    return rows


if __name__ == "__main__":
    main()

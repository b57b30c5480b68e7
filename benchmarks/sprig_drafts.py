"""How many tokens one verifying pass commits with Sprig's drafts: `python -m benchmarks.sprig_drafts`.

Greedy, on packages that training never saw (the test split of `model/training/packages.toml`, prepared by
`make corpus`). Two kinds of text: continuing code (a prompt of 256 tokens from the midst of a file) and rewriting a
function (the prompt shows the function once, asks for it again with one name changed, and gives its first line).
Plain autoregressive decoding commits 1.0 by definition; wall clock is a ratio to it, in the same run, kind by kind.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import save

CONTEXT, WRITTEN = 256, 64


@dataclass(frozen=True)
class Case:
    """A prompt, and texts (as ids) that the output may copy from."""

    prompt: tuple[int, ...]
    sources: tuple[tuple[int, ...], ...]


@dataclass
class Tally:
    """Sums over cases of one way of decoding."""

    tokens: int = 0
    passes: int = 0
    seconds: float = 0.0


def continuing(packages: Sequence[np.ndarray], count: int, seed: int) -> list[Case]:
    choose = random.Random(seed)
    cases = []
    for _ in range(count):
        ids = choose.choice(packages)
        start = choose.randrange(len(ids) - CONTEXT)
        cases.append(Case(tuple(int(i) for i in ids[start : start + CONTEXT]), ()))
    return cases


def rewriting(packages: Sequence[np.ndarray], tokenizer: Any, count: int, seed: int) -> list[Case]:
    """Functions of 6 to 20 lines; the change asked for is another name for one of their arguments."""
    choose = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < count:
        ids = choose.choice(packages)
        start = choose.randrange(len(ids) - 4096)
        text = tokenizer.decode([int(i) for i in ids[start : start + 4096]])
        found = _function(text, choose)
        if found is None:
            continue
        function, name = found
        head, _, _ = function.partition("\n")
        changed = head.replace(f"{name}", f"new_{name}", 1)
        prompt = f"# before: {name}\n{function}\n\n# after: {name} is now called new_{name}\n{changed}\n"
        cases.append(Case(tuple(tokenizer.encode(prompt)), (tuple(tokenizer.encode(function)),)))
    return cases


def _function(text: str, choose: random.Random) -> tuple[str, str] | None:
    pieces = text.split("\ndef ")
    choose.shuffle(pieces)
    for piece in pieces:
        body = "def " + piece.split("\n\n\n")[0].rstrip()
        try:
            node = ast.parse(body).body[0]
        except (SyntaxError, IndexError):
            continue
        if isinstance(node, ast.FunctionDef) and node.args.args and 6 <= body.count("\n") <= 20:
            return body, node.args.args[-1].arg
    return None


def run(model: Any, tokenizer: Any, case: Case, way: str, foresight: int) -> tuple[int, int, float]:
    from model.decoding import autoregressive, draft_verify
    from model.decoding.request import Finished, Generation

    prompt = case.prompt
    state = model.start()
    _, state = model.commit(prompt[:-1], state, rows=slice(0, 0))
    sources = (*case.sources, prompt) if "n-gram" in way else ()
    request = Generation(prompt[-1:], max_tokens=WRITTEN, sources=sources, start=state)
    began = time.perf_counter()
    if way == "plain":
        events = list(autoregressive.generate(model, tokenizer, request))
    else:
        drafting = draft_verify.Drafting(width=8, preview="adapters" in way, foresight=foresight)
        events = list(draft_verify.generate(model, tokenizer, request, drafting))
    seconds = time.perf_counter() - began
    finished = events[-1]
    assert isinstance(finished, Finished)
    return finished.tokens, finished.passes, seconds


def main() -> None:
    import torch

    from model.sprig import Sprig
    from model.training import corpus
    from model.weights import block_side_files
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--side", type=Path, default=block_side_files.SHIPPED)
    parser.add_argument("--precision", nargs="+", default=["int8", "fp32"])
    parser.add_argument("--foresight", type=int, nargs="+", default=[1, 2, 3, 4])
    arguments = parser.parse_args()
    names = [package.name for package in corpus.packages() if package.split == "test"]
    found = [path for name in names if (path := arguments.corpus / f"{name}.npy").exists()]
    packages = [np.load(path) for path in found]
    rows = []
    for precision in arguments.precision:
        trunk, tokenizer = load("smollm2", precision)
        model = Sprig(trunk, block_side_files.load(trunk.config, arguments.side))
        kinds = {
            "continuing code": continuing(packages, arguments.cases, 11),
            "rewriting a function": rewriting(packages, tokenizer, arguments.cases, 12),
        }
        ways = [("plain", 0), ("n-gram", 0), *(("adapters", f) for f in arguments.foresight)]
        ways += [("adapters + n-gram", f) for f in arguments.foresight]
        for kind, cases in kinds.items():
            tallies = {way: Tally() for way in ways}
            ratios: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
            for case in cases:
                times = {}
                for way in ways:
                    tokens, passes, seconds = run(model, tokenizer, case, *way)
                    tally = tallies[way]
                    tally.tokens += tokens
                    tally.passes += passes
                    tally.seconds += seconds
                    times[way] = seconds / max(tokens, 1)
                for way in ways:
                    ratios[way].append(times[("plain", 0)] / times[way])
            for (way, foresight), tally in tallies.items():
                per_pass = tally.tokens / max(tally.passes, 1)
                ratio = statistics.median(ratios[(way, foresight)])
                row = (precision, kind, way, foresight or "", f"{per_pass:.2f}", f"{ratio:.2f}×")
                print(row, flush=True)
                rows.append(row)
    save(
        "sprig-drafts",
        ("precision", "text", "drafts from", "looks ahead", "tokens per pass", "speed against plain (median)"),
        rows,
        f"Greedy, {WRITTEN} tokens after {CONTEXT}, n = {arguments.cases} prompts of each kind from the test packages "
        f"({', '.join(path.stem for path in found)}), {torch.get_num_threads()} threads.",
        "python -m benchmarks.sprig_drafts",
    )


if __name__ == "__main__":
    main()

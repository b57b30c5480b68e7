"""How many tokens one verifying pass commits with Sprig's drafts: `python -m benchmarks.sprig_drafts`.

Greedy, on packages that training never saw (the test split of `model/training/packages.toml`, prepared by
`make corpus`). Two kinds of text: continuing code (a prompt of 256 tokens from the midst of a file) and rewriting a
function (the prompt shows the function, asks for it again with one name changed, and gives the first third of that).
Plain autoregressive decoding commits 1.0 by definition; wall clock is a ratio to it, case by case and in the same run.

What was done is kept in `--store` and not done again; passes count from every run, seconds from those with `--timed`
alone (on a machine that does nothing else).
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import save
from model.decoding.draft_verify import Drafting

CONTEXT, WRITTEN = 256, 64
PLAIN = "plain"
WAYS = {
    "n-gram": Drafting(succession=0),
    **{f"successor, {n}": Drafting(ngrams=False, succession=n) for n in (1, 2, 4)},
    **{f"adapters, {n}": Drafting(ngrams=False, succession=0, foresight=n) for n in (1, 2, 3, 4)},
    "successor + n-gram, 4": Drafting(succession=4),
    **{f"adapters + n-gram, {n}": Drafting(succession=0, foresight=n) for n in (2, 3)},
}
KINDS = ("continuing code", "rewriting a function")


@dataclass(frozen=True)
class Case:
    """A prompt, how many tokens are written at most, and texts (as ids) that the output may copy from."""

    prompt: tuple[int, ...]
    written: int
    sources: tuple[tuple[int, ...], ...] = ()


def continuing(packages: Sequence[np.ndarray], count: int, seed: int) -> list[Case]:
    choose = random.Random(seed)
    cases = []
    for _ in range(count):
        ids = choose.choice(packages)
        start = choose.randrange(len(ids) - CONTEXT)
        cases.append(Case(tuple(int(i) for i in ids[start : start + CONTEXT]), WRITTEN))
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
        shown = tokenizer.encode(f"{function}\n\n\n# the same, {name} is called new_{name}\n")
        changed = tokenizer.encode(re.sub(rf"\b{name}\b", f"new_{name}", function))
        given, rest = changed[: len(changed) // 3], changed[len(changed) // 3 :]
        cases.append(Case((*shown, *given), min(WRITTEN, len(rest)), (tuple(tokenizer.encode(function)),)))
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


def decode(model: Any, tokenizer: Any, case: Case, state: Any, way: str) -> tuple[list[int], int, float]:
    """The tokens, the passes after the prompt, and the seconds of one way; `state` has read all but the prompt's last
    token."""
    from model.decoding import autoregressive, draft_verify
    from model.decoding.request import Finished, Generation, Settled

    request = Generation(
        case.prompt[-1:], max_tokens=case.written, sources=case.sources, start=state, behind=case.prompt[:-1]
    )
    began = time.perf_counter()
    if way == PLAIN:
        events = list(autoregressive.generate(model, tokenizer, request))
    else:
        events = list(draft_verify.generate(model, tokenizer, request, WAYS[way]))
    seconds = time.perf_counter() - began
    finished = events[-1]
    assert isinstance(finished, Finished)
    return [t for event in events if isinstance(event, Settled) for t in event.tokens], finished.passes, seconds


def rows_of(kept: Sequence[dict], kinds: Sequence[str]) -> list[tuple[str, ...]]:
    """The table: for each precision, kind of text and way."""
    rows = []
    for precision in dict.fromkeys(row["precision"] for row in kept):
        for kind in kinds:
            ours = [row for row in kept if (row["precision"], row["kind"]) == (precision, kind)]
            plain = {row["case"]: row["seconds"] for row in ours if row["way"] == PLAIN and row["timed"]}
            for way in WAYS:
                of_way = [row for row in ours if row["way"] == way]
                passes = sum(row["passes"] for row in of_way)
                timed = [row for row in of_way if row["timed"] and row["case"] in plain]
                if not passes:
                    continue
                faster = statistics.median(plain[row["case"]] / row["seconds"] for row in timed) if timed else None
                rows.append(
                    (
                        precision, kind, way, f"{sum(row['tokens'] for row in of_way) / passes:.2f}",
                        str(len({row["case"] for row in of_way})),
                        "" if faster is None else f"{faster:.2f}×", str(len(timed)),
                    )
                )  # fmt: skip
    return rows


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
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--split", default="test", choices=("test", "validation"))
    parser.add_argument("--timed", action="store_true", help="the machine does nothing else: seconds count")
    parser.add_argument("--seconds", type=float, default=240, help="begin no further case after so long")
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    names = [package.name for package in corpus.packages() if package.split == arguments.split]
    found = [path for name in names if (path := arguments.corpus / f"{name}.npy").exists()]
    packages = [np.load(path) for path in found]
    store = arguments.store or Path(f"runs/drafts_{arguments.split}.jsonl")
    kept = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    wrong = 0
    for precision in arguments.precision:
        trunk, tokenizer = load("smollm2", precision)
        model = Sprig(trunk, block_side_files.load(trunk.config, arguments.side))
        makers = {
            KINDS[0]: partial(continuing, packages, arguments.cases, 11),
            KINDS[1]: partial(rewriting, packages, tokenizer, arguments.cases, 12),
        }
        cases = [(kind, at, case) for kind, make in makers.items() for at, case in enumerate(make())]
        for kind, at, case in sorted(cases, key=lambda entry: entry[1]):
            done = {
                row["way"] for row in kept
                if (row["precision"], row["kind"], row["case"]) == (precision, kind, at)
                and row["timed"] >= arguments.timed
            }  # fmt: skip
            todo = [way for way in (PLAIN, *arguments.ways) if way not in done]
            if not set(todo) - {PLAIN} or time.monotonic() - began > arguments.seconds:
                continue
            _, state = model.commit(case.prompt[:-1], model.start(), rows=slice(0, 0))
            expected, *_ = decode(model, tokenizer, case, state, PLAIN)
            for way in todo:
                tokens, passes, seconds = decode(model, tokenizer, case, state, way)
                wrong += tokens != expected
                row = {
                    "precision": precision, "kind": kind, "case": at, "way": way, "tokens": len(tokens),
                    "passes": passes, "seconds": seconds, "timed": arguments.timed,
                }  # fmt: skip
                kept = [
                    old for old in kept if any(old[key] != row[key] for key in ("precision", "kind", "case", "way"))
                ]
                kept.append(row)
            store.write_text("".join(json.dumps(row) + "\n" for row in kept))
    rows = rows_of(kept, KINDS)
    for row in rows:
        print(row)
    print(f"texts that differ from plain decoding: {wrong}")
    save(
        "sprig-drafts" if arguments.split == "test" else "sprig-drafts-tuning",
        ("precision", "text", "drafts from, and how many", "tokens per pass", "n", "speed against plain", "n timed"),
        rows,
        f"Greedy, {WRITTEN} tokens after {CONTEXT} (continuing), or after a function and the first third of its new "
        "form, as many as that still has and no more (rewriting); "
        f"prompts from packages kept from training ({', '.join(path.stem for path in found)}); "
        f"{torch.get_num_threads()} threads; speed: median of plain decoding's seconds over the way's.",
        "python -m benchmarks.sprig_drafts --timed",
    )


if __name__ == "__main__":
    main()

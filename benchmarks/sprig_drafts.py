"""How many tokens one verifying pass commits with Sprig's drafts: `python -m benchmarks.sprig_drafts`.

On packages that training never saw (the test split of `model/training/packages.toml`, prepared by `make corpus`). Two
kinds of text. Continuing code: what the trunk writes, greedy, after 256 tokens from the midst of a file. Rewriting a
function: the prompt shows the function, and the text is that function again with one of its arguments renamed, up to
96 tokens of it. That text is given, not chosen by the trunk: a model of this size that is asked for a change
writes something else, and then its drafts are not those of a rewriting (see `benchmarks.dictated`; for what it does
write itself when it is shown a function to repair: `benchmarks.decoders`). Plain autoregressive decoding commits 1.0
by definition; wall clock is a ratio to it, case by case and in the same run.

What was done is kept in `--store` and not done again, so that a run may be cut into pieces; passes count from every
run, seconds from those with `--timed` alone (on a machine that does nothing else).
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

CONTEXT, WRITTEN, REWRITTEN = 256, 64, 96
PLAIN = "plain"
WAYS = {
    "n-gram": Drafting(succession=0),
    **{f"successor, {n}": Drafting(ngrams=False, succession=n) for n in (1, 2, 4)},
    **{f"adapters, {n}": Drafting(ngrams=False, succession=0, foresight=n) for n in (1, 2, 3, 4)},
    "successor + n-gram, 4": Drafting(succession=4),
    **{f"adapters + n-gram, {n}": Drafting(succession=0, foresight=n) for n in (2, 3)},
}
USUAL = ("n-gram", "adapters, 1", "adapters, 2", "adapters + n-gram, 2")
KINDS = ("continuing code", "rewriting a function, its text given")


@dataclass(frozen=True)
class Case:
    """A prompt, how many tokens are written at most, texts (as ids) that the output may copy from, and what is written
    where that is given."""

    prompt: tuple[int, ...]
    written: int
    sources: tuple[tuple[int, ...], ...] = ()
    text: tuple[int, ...] | None = None


def continuing(packages: Sequence[np.ndarray], count: int, seed: int) -> list[Case]:
    choose = random.Random(seed)
    cases = []
    for _ in range(count):
        ids = choose.choice(packages)
        start = choose.randrange(len(ids) - CONTEXT)
        cases.append(Case(tuple(int(i) for i in ids[start : start + CONTEXT]), WRITTEN))
    return cases


def rewriting(packages: Sequence[np.ndarray], tokenizer: Any, count: int, seed: int) -> list[Case]:
    """Functions of 6 to 20 lines; written is the function with another name for one of its arguments, from behind its
    first token on."""
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
        prompt, text = (*shown, changed[0]), tuple(changed[1 : 1 + REWRITTEN])
        cases.append(Case(prompt, len(text), (tuple(tokenizer.encode(function)),), text))
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
    from benchmarks.dictated import Dictated
    from model.decoding import autoregressive, draft_verify
    from model.decoding.request import Finished, Generation, Settled

    request = Generation(
        case.prompt[-1:], max_tokens=case.written, sources=case.sources, start=state, behind=case.prompt[:-1]
    )
    if case.text is not None:
        model = Dictated(model, (*case.prompt, *case.text), tokenizer.end_id)
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
    from benchmarks.encoded import packages
    from model.sprig import Sprig
    from model.weights import block_side_files
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--side", type=Path, default=block_side_files.SHIPPED)
    parser.add_argument("--precision", nargs="+", default=["int8", "fp32"])
    parser.add_argument("--ways", nargs="+", default=list(USUAL), choices=WAYS)
    parser.add_argument("--split", default="test", choices=("test", "validation"))
    parser.add_argument("--timed", action="store_true", help="the machine does nothing else: seconds count")
    parser.add_argument("--seconds", type=float, default=240, help="begin no further case after so long")
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    found = packages(arguments.corpus, arguments.split)
    arrays = list(found.values())
    store = arguments.store or Path(f"runs/drafts_{arguments.split}.jsonl")
    store.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    wrong = 0
    for precision in arguments.precision:
        trunk, tokenizer = load("smollm2", precision)
        model = Sprig(trunk, block_side_files.load(trunk.config, arguments.side))
        makers = {
            KINDS[0]: partial(continuing, arrays, arguments.cases, 11),
            KINDS[1]: partial(rewriting, arrays, tokenizer, arguments.cases, 12),
        }
        cases = [(kind, at, case) for kind, make in makers.items() for at, case in enumerate(make())]
        for kind, at, case in sorted(cases, key=lambda entry: entry[1]):
            done = {
                row["way"] for row in kept
                if (row["precision"], row["kind"], row["case"]) == (precision, kind, at)
                and row["timed"] >= arguments.timed
            }  # fmt: skip
            todo = [way for way in arguments.ways if way not in done]
            if not todo or time.monotonic() - began > arguments.seconds:
                continue
            _, state = model.commit(case.prompt[:-1], model.start(), rows=slice(0, 0))
            expected: list[int] = []
            for way in (PLAIN, *todo):
                tokens, passes, seconds = decode(model, tokenizer, case, state, way)
                expected = tokens if way == PLAIN else expected
                wrong += tokens != expected
                if way in done:  # plain decoding, once more: what was timed stays
                    continue
                row = {
                    "precision": precision, "kind": kind, "case": at, "way": way, "tokens": len(tokens),
                    "passes": passes, "seconds": seconds, "timed": arguments.timed,
                }  # fmt: skip
                kept = [
                    old for old in kept if any(old[key] != row[key] for key in ("precision", "kind", "case", "way"))
                ]
                kept.append(row)
            store.write_text("".join(json.dumps(row) + "\n" for row in kept))
            print(precision, kind, at, round(time.monotonic() - began), flush=True)
    rows = rows_of(kept, KINDS)
    for row in rows:
        print(row)
    print(f"texts that differ from plain decoding: {wrong}")
    save(
        "sprig-drafts" if arguments.split == "test" else "sprig-drafts-tuning",
        ("precision", "text", "drafts from, and how many", "tokens per pass", "n", "speed against plain", "n timed"),
        rows,
        f"Continuing: {WRITTEN} tokens after {CONTEXT}, chosen by the trunk, greedy. Rewriting: behind a function, the "
        f"same function with one argument renamed, up to {REWRITTEN} tokens; this text is given, the trunk does not "
        f"choose it. From packages kept from training ({', '.join(found)}). Speed: median of plain decoding's seconds "
        "over the way's.",
        "python -m benchmarks.sprig_drafts --timed",
    )


if __name__ == "__main__":
    main()

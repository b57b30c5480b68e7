"""What each part of Sprig is worth: `python -m benchmarks.sprig_parts`.

Two tables, on packages that training never saw. *Parts*: blocks as in training (drafts, partly masked, gaps) behind
their true past, with one thing changed at a time: no history slot, the slots' block-size slope fixed at 0 and at 1,
adapters of half the rank (cut by SVD, not trained again), and block sizes that training never drew. *Steps*: blocks of
8 masks filled in so many passes, and what the trunk thinks of the outcome.

What was done is kept in `--store` and not done again, so that a run may be cut into pieces; a store belongs to one
block side. One segment takes about a minute of one core, one block two seconds.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.encoded import packages
from benchmarks.tables import save
from model.block_side import BlockSide
from model.decoding.diffusion import Denoising, denoise
from model.decoding.request import Generation
from model.decoding.run import Run
from model.layers.low_rank import LowRank
from model.protocol import Block
from model.sprig import Sprig
from model.training.loop import BLOCK_SIZES
from model.training.noise import sample_blocks
from model.training.step import block_context, block_loss, clean_pass, written_memory
from model.training.streams import Streams
from model.weights import block_side_files
from model.weights.block_side_files import facts
from model.weights.catalogue import load

LENGTH, ROWS, WINDOW = 512, 512, 4096
SIZES = (2, 4, 8, 12, 16, 24, 32)
STEPS = (1, 2, 4, 8)
BLOCK, PAST = 8, 256


@dataclass(frozen=True)
class Setting:
    """A block side, the rows of a block, and whether the history slots are open."""

    side: BlockSide
    rows: int = 8
    memory: bool = True


class Store:
    """What was found, by its key: lines of JSON in a file that grows. `left` says whether there is time for more."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path, self._end = path, time.monotonic() + seconds
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        self.found: dict[str, Any] = {row["key"]: row["found"] for row in map(json.loads, lines)}

    @property
    def left(self) -> bool:
        return time.monotonic() < self._end

    def add(self, key: str, found: Any) -> None:
        self.found[key] = found
        with self._path.open("a") as log:
            log.write(json.dumps({"key": key, "found": found}) + "\n")
        print(key, flush=True)

    def of(self, kind: str) -> list[Any]:
        """What was found of one kind, `kind|number`."""
        return [found for key, found in self.found.items() if key.partition("|")[0] == kind]


def changed(side: BlockSide, change: Callable[[BlockSide], None]) -> BlockSide:
    other = copy.deepcopy(side)
    with torch.no_grad():
        change(other)
    return other


def set_slope(value: float) -> Callable[[BlockSide], None]:
    def change(side: BlockSide) -> None:
        for layer in side.config.memory_layers:
            side.slot(layer).slope.fill_(value)

    return change


def halve_rank(side: BlockSide) -> None:
    """The best approximation of every adapter with half its rank; the lost directions become zero."""
    for module in side.modules():
        if isinstance(module, LowRank):
            left, right = torch.linalg.qr(module.b), torch.linalg.qr(module.a.T)
            u, s, v = torch.linalg.svd(left.R @ right.R.T)
            kept = len(s) // 2
            s[kept:] = 0
            module.b.copy_(left.Q @ u * s)
            module.a.copy_(v @ right.Q.T)


def settings(side: BlockSide) -> dict[str, Setting]:
    sized = {
        f"blocks of {rows}" + ("" if rows in BLOCK_SIZES else " (never trained)"): Setting(side, rows) for rows in SIZES
    }
    return {
        **sized,
        "no history slot": Setting(side, memory=False),
        "slope fixed at 0": Setting(changed(side, set_slope(0))),
        "slope fixed at 1": Setting(changed(side, set_slope(1))),
        "half the rank, by SVD": Setting(changed(side, halve_rank)),
    }


@torch.no_grad()
def parts(trunk: Any, side: BlockSide, arrays: Sequence[np.ndarray], segments: int, store: Store) -> None:
    """For every setting of a segment: nats of its rows without and with the token at their own place, their weight,
    and the drafts that the trunk would take. Segments that were done are read again, for the memory that they carry."""
    streams, tried = Streams(arrays, LENGTH, seed=7, width=4), settings(side)
    todo = [segment for segment in range(segments) if f"part|{segment}" not in store.found]
    for segment in range(max(todo, default=-1) + 1):
        if not store.left:
            return
        ids_T, stream = streams.next()
        clean = clean_pass(trunk, ids_T)
        states = written_memory(trunk, side, clean, stream)
        if segment not in todo:
            continue
        found = {}
        for name, setting in tried.items():
            random = torch.Generator().manual_seed(segment)
            batch = sample_blocks(LENGTH, setting.rows, ROWS // setting.rows, random)
            context = block_context(clean, states if setting.memory else {}, batch, WINDOW, side.config.chunk)
            one = block_loss(trunk, setting.side, clean, context, batch, random)
            loss = one.loss
            found[name] = [loss.blind.item(), loss.conditioned.item(), loss.weight.item(), one.accepted, one.first]
        store.add(f"part|{segment}", found)


def part_rows(found: Sequence[dict[str, list[float]]]) -> list[tuple[str, ...]]:
    """The table, a row for each setting."""
    rows = []
    for name in dict.fromkeys(name for one in found for name in one):
        values = np.array([one[name] for one in found])
        blind, conditioned, weight = values[:, :3].sum(0)
        accepted, first = np.nanmean(values[:, 3:], 0)
        rows.append((name, f"{blind / weight:.3f}", f"{conditioned / weight:.3f}", f"{first:.0%}", f"{accepted:.2f}"))
    return rows


def steps(model: Sprig, tokenizer: Any, arrays: Sequence[np.ndarray], blocks: int, store: Store) -> None:
    """For every way to fill a block: its passes, and of each token the nats that the trunk gives it and whether it is
    the trunk's own choice."""
    for at, past in enumerate(pasts(arrays, blocks)):
        if f"step|{at}" in store.found:
            continue
        if not store.left:
            return
        _, before = model.commit(past[:-1], model.start(), rows=slice(0, 0))
        found = {}
        for way, tokens, passes in fillings(model, tokenizer, past, before):
            nats: list[float] = []
            own: list[float] = []
            if tokens:
                logits_TV, _ = model.commit([past[-1], *tokens[:-1]], before)
                picked_T = torch.tensor(tokens)
                nats = (-logits_TV.log_softmax(-1)[torch.arange(len(tokens)), picked_T]).tolist()
                own = (logits_TV.argmax(-1) == picked_T).float().tolist()
            found[way] = [passes, nats, own]
        store.add(f"step|{at}", found)


def pasts(arrays: Sequence[np.ndarray], blocks: int) -> Iterator[list[int]]:
    """What is read before each block."""
    random = np.random.default_rng(3)
    for _ in range(blocks):
        ids = arrays[random.integers(len(arrays))]
        at = int(random.integers(0, len(ids) - PAST))
        yield ids[at : at + PAST].tolist()


def fillings(
    model: Sprig, tokenizer: Any, past: Sequence[int], before: Any
) -> Iterator[tuple[str, Sequence[int], int]]:
    """Every way, its tokens and its passes. `before` has read all but the last token of `past`."""
    ways: dict[str, Denoising] = {
        f"{count} pass" + "es" * (count > 1): Denoising(BLOCK, threshold=2.0, steps=count) for count in STEPS
    }
    ways["what is surer than 0.9 in each pass"] = Denoising(BLOCK, threshold=0.9)
    _, state = model.commit(past[-1:], before, rows=slice(0, 0))
    empty = Block(torch.zeros(BLOCK, dtype=torch.long), torch.ones(BLOCK, dtype=torch.bool))
    for way, denoising in ways.items():
        run = Run(tokenizer, Generation(past, max_tokens=BLOCK))
        list(denoise(model, state, empty, BLOCK, run, denoising))
        yield way, run.written, run.passes
    written, after, token = [], before, past[-1]
    for _ in range(BLOCK):
        logits_TV, after = model.commit([token], after)
        token = int(logits_TV[-1].argmax())
        written.append(token)
    yield "the trunk itself, one by one", written, BLOCK


def step_rows(found: Sequence[dict[str, list[Any]]]) -> list[tuple[str, ...]]:
    """The table, a row for each way."""
    rows = []
    for way in dict.fromkeys(way for one in found for way in one):
        passes = np.mean([one[way][0] for one in found])
        nats, own = (np.mean([value for one in found for value in one[way][place]]) for place in (1, 2))
        rows.append((way, f"{passes:.1f}", f"{nats / math.log(2):.2f}", f"{own:.0%}"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--side", type=Path, default=block_side_files.SHIPPED)
    parser.add_argument("--segments", type=int, default=24)
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=240, help="begin nothing further after so long")
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    trained = facts(arguments.side)["steps"]
    store = Store(arguments.store or Path(f"runs/parts_{trained}.jsonl"), arguments.seconds)
    arrays = packages(arguments.corpus)
    trunk, _ = load("smollm2", "fp32")
    side = block_side_files.load(trunk.config, arguments.side).eval()
    parts(trunk, side, list(arrays.values()), arguments.segments, store)
    quick, tokenizer = load("smollm2", "int8")
    steps(Sprig(quick, side), tokenizer, list(arrays.values()), arguments.blocks, store)
    note = f"packages kept from training ({', '.join(arrays)}); block side after {trained} steps of training."
    report(store, note)


def report(store: Store, note: str) -> None:
    """Both tables, of as much as there is."""
    command = "python -m benchmarks.sprig_parts"
    if found := store.of("part"):
        rows = part_rows(found)
        said = (
            f"fp32, blocks of 8 unless said otherwise, n = {len(found)} segments of {LENGTH} tokens with {ROWS} block "
            f"rows each, true neighbours given; {note}"
        )
        columns = ("changed", "nats a row, blind", "nats a row, token before known", "first draft right")
        save("sprig-parts", (*columns, "drafts accepted"), rows, said, command)
        print(*rows, sep="\n")
    if found := store.of("step"):
        rows = step_rows(found)
        columns = (
            "a block filled in",
            "passes",
            "bits a token, by the trunk",
            "tokens that are the trunk's own choice",
        )
        said = f"int8, n = {len(found)} blocks of {BLOCK} behind {PAST} tokens; {note}"
        save("sprig-steps", columns, rows, said, command)
        print(*rows, sep="\n")


if __name__ == "__main__":
    main()

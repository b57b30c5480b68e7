"""What each part of Sprig is worth: `python -m benchmarks.sprig_parts`.

Two tables, on packages that training never saw. *Parts*: blocks as in training (drafts, partly masked, gaps) behind
their true past, with one thing changed at a time: no history slot, the slots' block-size slope fixed at 0 and at 1,
adapters of half the rank (cut by SVD, not trained again), and block sizes that training never drew. *Steps*: blocks of
8 masks filled in so many passes, and what the trunk thinks of the outcome.
"""

from __future__ import annotations

import argparse
import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.tables import save
from model.block_side import BlockSide
from model.decoding.diffusion import Denoising, denoise
from model.decoding.request import Generation
from model.decoding.run import Run
from model.layers.low_rank import LowRank
from model.protocol import Block
from model.sprig import Sprig
from model.training import corpus
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


@dataclass
class Sums:
    """Over segments: nats of rows without and with the token at their own place, and drafts that the trunk takes."""

    blind: float = 0.0
    conditioned: float = 0.0
    weight: float = 0.0
    accepted: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)


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
def parts(trunk: Any, side: BlockSide, packages: Sequence[np.ndarray], segments: int) -> dict[str, Sums]:
    streams, tried = Streams(packages, LENGTH, seed=7, width=4), settings(side)
    sums = {name: Sums() for name in tried}
    for segment in range(segments):
        ids_T, stream = streams.next()
        clean = clean_pass(trunk, ids_T)
        states = written_memory(trunk, side, clean, stream)
        for name, setting in tried.items():
            random = torch.Generator().manual_seed(segment)
            batch = sample_blocks(LENGTH, setting.rows, ROWS // setting.rows, random)
            context = block_context(clean, states if setting.memory else {}, batch, WINDOW, side.config.chunk)
            found = block_loss(trunk, setting.side, clean, context, batch, random)
            one = sums[name]
            one.blind += found.loss.blind.item()
            one.conditioned += found.loss.conditioned.item()
            one.weight += found.loss.weight.item()
            one.accepted.append(found.accepted)
            one.first.append(found.first)
        print(f"segment {segment + 1} of {segments}", flush=True)
    return sums


def steps(model: Sprig, tokenizer: Any, packages: Sequence[np.ndarray], blocks: int) -> list[tuple[str, ...]]:
    """For every number of passes: what the trunk thinks of the block, and how often a token is its own choice."""
    random = np.random.default_rng(3)
    ways: dict[str, Denoising] = {
        f"{count} pass" + "es" * (count > 1): Denoising(BLOCK, threshold=2.0, steps=count) for count in STEPS
    }
    ways["what is surer than 0.9 in each pass"] = Denoising(BLOCK, threshold=0.9)
    nats: dict[str, list[float]] = {way: [] for way in (*ways, "the trunk itself, one by one")}
    own: dict[str, list[float]] = {way: [] for way in nats}
    passes: dict[str, list[int]] = {way: [] for way in nats}
    for _ in range(blocks):
        ids = packages[random.integers(len(packages))]
        at = int(random.integers(0, len(ids) - PAST))
        past = ids[at : at + PAST].tolist()
        _, before = model.commit(past[:-1], model.start(), rows=slice(0, 0))
        _, state = model.commit(past[-1:], before, rows=slice(0, 0))
        empty = Block(torch.zeros(BLOCK, dtype=torch.long), torch.ones(BLOCK, dtype=torch.bool))
        written: dict[str, list[int]] = {}
        for way, denoising in ways.items():
            run = Run(tokenizer, Generation(past, max_tokens=BLOCK))
            list(denoise(model, state, empty, BLOCK, run, denoising))
            written[way] = run.written
            passes[way].append(run.passes)
        greedy, after, token = [], before, past[-1]
        for _ in range(BLOCK):
            logits_TV, after = model.commit([token], after)
            token = int(logits_TV[-1].argmax())
            greedy.append(token)
        written["the trunk itself, one by one"] = greedy
        passes["the trunk itself, one by one"].append(BLOCK)
        for way, tokens in written.items():
            if tokens:
                logits_TV, _ = model.commit([past[-1], *tokens[:-1]], before)
                picked_T = torch.tensor(tokens)
                nats[way] += (-logits_TV.log_softmax(-1)[torch.arange(len(tokens)), picked_T]).tolist()
                own[way] += (logits_TV.argmax(-1) == picked_T).float().tolist()
    return [
        (way, f"{np.mean(passes[way]):.1f}", f"{np.mean(nats[way]) / math.log(2):.2f}", f"{np.mean(own[way]):.0%}")
        for way in nats
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--side", type=Path, default=block_side_files.SHIPPED)
    parser.add_argument("--segments", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=40)
    arguments = parser.parse_args()
    names = [package.name for package in corpus.packages() if package.split == "test"]
    packages = [np.load(path) for name in names if (path := arguments.corpus / f"{name}.npy").exists()]
    trunk, _ = load("smollm2", "fp32")
    side = block_side_files.load(trunk.config, arguments.side).eval()
    note = f"packages kept from training; block side after {facts(arguments.side)['steps']} steps of training."
    rows = [
        (name, f"{one.blind / one.weight:.3f}", f"{one.conditioned / one.weight:.3f}",
         f"{np.nanmean(one.first):.0%}", f"{np.nanmean(one.accepted):.2f}")
        for name, one in parts(trunk, side, packages, arguments.segments).items()
    ]  # fmt: skip
    for row in rows:
        print(row)
    columns = ("changed", "nats a row, blind", "nats a row, token before known", "first draft right", "drafts accepted")
    save(
        "sprig-parts", columns, rows,
        f"fp32, blocks of 8 unless said otherwise, n = {arguments.segments} segments of {LENGTH} tokens with {ROWS} "
        f"block rows each, true neighbours given; {note}",
        "python -m benchmarks.sprig_parts",
    )  # fmt: skip
    quick, tokenizer = load("smollm2", "int8")
    found = steps(Sprig(quick, side), tokenizer, packages, arguments.blocks)
    for line in found:
        print(line)
    save(
        "sprig-steps",
        ("a block filled in", "passes", "bits a token, by the trunk", "tokens that are the trunk's own choice"),
        found,
        f"int8, n = {arguments.blocks} blocks of {BLOCK} behind {PAST} tokens; {note}",
        "python -m benchmarks.sprig_parts",
    )


if __name__ == "__main__":
    main()

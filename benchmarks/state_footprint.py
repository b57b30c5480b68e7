"""The size of a Clover state against the tokens read: `python -m benchmarks.state_footprint`.

A random checkpoint with the mixers of Clover-35B-A3B (four of the forty layers, a narrow body, fp32) reads 1,000 to
8,000 tokens; its states are measured. What grows, grows by the same number of bytes per token, so the rows beyond are
extended from there. All figures are for the forty layers: ten times what was measured.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch

from benchmarks.tables import save
from model.clover import CloverModel
from model.memory import MemoryState
from model.weights.clover_files import load_clover
from model.weights.synthetic import PUBLISHED, write_random

CUT = PUBLISHED | {
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "vocab_size": 512,
    "bd_mask_token_id": 511,
    "num_experts": 4,
    "num_experts_per_tok": 1,
    "moe_intermediate_size": 64,
    "shared_expert_intermediate_size": 64,
    "bd_expert_coreset": 4,
}
READ, EXTENDED = (1_000, 2_000, 4_000, 8_000), (64_000, 256_000, 1_000_000)
WINDOW = 2048
TIMES = PUBLISHED["num_hidden_layers"] // CUT["num_hidden_layers"]


def read(model: CloverModel, counts: tuple[int, ...]) -> list[MemoryState]:
    """The states after so many random tokens."""
    ids = torch.randint(0, 512, (max(counts),), generator=torch.Generator().manual_seed(0))
    states, state = [], model.start()
    for before, count in zip((0, *counts), counts):
        _, state = model.commit(ids[before:count], state, rows=slice(0, 0))
        states.append(state)
    return states


def mebibytes(count: float) -> str:
    return f"{TIMES * count / 2**20:,.0f}"


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_random(Path(scratch), CUT)
        whole = read(load_clover(folder), READ)
        bounded = read(load_clover(folder, attention_window=WINDOW), READ)
    rows = [
        (f"{one.position:,}", mebibytes(one.fixed_bytes), mebibytes(one.window_bytes), mebibytes(other.window_bytes))
        for one, other in zip(whole, bounded)
    ]
    per_token = whole[-1].window_bytes / whole[-1].position
    largest = per_token * 2 * WINDOW  # columns are dropped a whole window at a time
    for count in EXTENDED:
        rows.append(
            (f"{count:,} *", mebibytes(whole[-1].fixed_bytes), mebibytes(per_token * count), mebibytes(largest))
        )
    for row in rows:
        print("  ".join(row))
    columns = ("tokens read", "GDN, MiB", "keys and values, MiB", f"the same with a window of {WINDOW:,}, MiB")
    note = "fp32, forty layers of which thirty are GDN. * extended from the rows above, not read."
    save("state-footprint", columns, rows, note, "python -m benchmarks.state_footprint")


if __name__ == "__main__":
    main()

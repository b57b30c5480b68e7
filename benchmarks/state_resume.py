"""Going on from a saved state against reading again: `python -m benchmarks.state_resume`.

4,000 tokens are read and the state is saved through `MemoryStore`; then it is looked up and loaded, which counts
finding the file, reading it (from the page cache) and its checksum, and one token is committed to show that it works.
Models: SmolLM2-135M, all keys and values kept; and four layers with the mixers of Clover-35B-A3B (random weights).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.state_footprint import CUT
from benchmarks.tables import save
from model.llama import LlamaState
from model.memory import MemoryState
from model.memory_store import MemoryStore
from model.weights.catalogue import load
from model.weights.clover_files import load_clover
from model.weights.synthetic import write_random

TOKENS, ROUNDS = 4_000, 9
Reader = Callable[[list[int]], MemoryState]
Resumer = Callable[[MemoryState], object]


def trunk(precision: str) -> tuple[str, Reader, Resumer]:
    model, _ = load("smollm2", precision)

    def read(ids: list[int]) -> MemoryState:
        _, state = model.commit(ids, model.start(), rows=slice(0, 0))
        return MemoryState(f"smollm2-{precision}", state.position, {"recent": state.recent_TE}, {"trunk": state.window})

    def resume(state: MemoryState) -> object:
        return model.commit([5], LlamaState(state.windows["trunk"], state.position, state.tensors["recent"]))

    return f"SmolLM2-135M, {precision}", read, resume


def clover(scratch: Path) -> tuple[str, Reader, Resumer]:
    model = load_clover(write_random(scratch / "model", CUT | {"hidden_size": 2048}))

    def read(ids: list[int]) -> MemoryState:
        return model.commit(ids, model.start(), rows=slice(0, 0))[1]

    return "Clover, 4 of 40 layers, fp32", read, lambda state: model.commit([5], state)


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def measure(name: str, read: Reader, resume: Resumer, scratch: Path, rounds: int) -> tuple[str, ...]:
    ids = torch.randint(0, 500, (TOKENS,), generator=torch.Generator().manual_seed(0)).tolist()
    store = MemoryStore(scratch / "memory", 1 << 33)
    state = read(ids)
    store.put(["4000 tokens"], state)

    def look_up() -> None:
        found, count = store.longest_prefix(state.model_id, ["4000 tokens"])
        assert found is not None and count == 1 and found.position == TOKENS
        resume(found)

    reading = statistics.median(seconds(lambda: resume(read(ids))) for _ in range(max(1, rounds // 3)))
    resuming = statistics.median(seconds(look_up) for _ in range(rounds))
    size = store.entries()[0].bytes / 2**20
    return name, f"{size:,.0f}", f"{reading:.2f}", f"{resuming:.3f}", f"{reading / resuming:.0f}×"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, read, resume in (trunk("fp32"), trunk("int8"), clover(scratch)):
            rows.append(measure(name, read, resume, scratch / name, rounds))
            print("  ".join(rows[-1]))
    columns = ("model", "file, MiB", f"reading {TOKENS:,} tokens, s", "resuming, s", "ratio")
    note = f"Medians of {rounds} resumptions and {max(1, rounds // 3)} readings; the file lies in the page cache."
    save("state-resume", columns, rows, note, "python -m benchmarks.state_resume")


if __name__ == "__main__":
    main()

"""Loading a checkpoint of more than 4 GiB in the layout of Clover-35B-A3B: `python -m benchmarks.checkpoint_loading`.

The random checkpoint (four layers, 128 experts each, the published sizes otherwise, bf16 with the experts in 16, 8 or
4 bits) is written to a temporary folder and deleted afterwards. A fresh process opens it, reads a prompt of 64 tokens
and previews a block. Counted as resident are the weights it had to look at: all dense ones (of the embedding the rows
of the prompt) and the experts that a token was routed to. The peak is the process's own high-water mark, interpreter
and torch included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.tables import save

LAYERS, EXPERTS, PROMPT = 4, 128, 64


def peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status")


def look(folder: Path) -> None:
    """In the fresh process: prints what was measured as JSON."""
    from model.layers.experts import SparseExperts
    from model.weights import names
    from model.weights.checkpoint import Checkpoint
    from model.weights.clover_files import load_clover
    from model.weights.expert_banks import FusedBank

    before = peak_bytes()
    begin = time.perf_counter()
    model = load_clover(folder)
    opened, opening = peak_bytes(), time.perf_counter() - begin
    routed: set[tuple[int, int]] = set()
    for number, layer in enumerate(model.layers):
        assert isinstance(layer.mlp, SparseExperts)

        def watched(x: torch.Tensor, known: int, number: int = number, route=layer.mlp.route):  # type: ignore[no-untyped-def]
            weights, experts = route(x, known)
            routed.update((number, int(expert)) for expert in experts.unique())
            return weights, experts

        layer.mlp.route = watched  # type: ignore[method-assign]
    begin = time.perf_counter()
    model.step(list(range(PROMPT)), 8, model.start())
    first = time.perf_counter() - begin
    checkpoint = Checkpoint(folder, names.canonical)
    dense = [name for name in checkpoint.names if ".experts." not in name and name != "embed_tokens.weight"]
    bank = model.layers[0].mlp.bank  # type: ignore[union-attr]
    assert isinstance(bank, FusedBank)
    parts = (bank.gate_up_stack.weights, bank.gate_up_stack.scales, bank.down_stack.weights, bank.down_stack.scales)
    expert = sum(part[0].nbytes for part in parts if part is not None)
    resident = sum(checkpoint.tensor(name).nbytes for name in dense) + len(routed) * expert
    print(
        json.dumps(
            {
                "imports": before,
                "opened": opened,
                "peak": peak_bytes(),
                "resident": resident,
                "routed": len(routed),
                "opening_s": opening,
                "first_s": first,
            }
        )
    )


def measure(scratch: Path, bits: int) -> tuple[str, ...]:
    from model.weights.synthetic import PUBLISHED, write_random

    config = PUBLISHED | {"num_hidden_layers": LAYERS, "num_experts": EXPERTS, "bd_expert_coreset": EXPERTS * 3 // 16}
    folder = write_random(scratch / str(bits), config, dtype=torch.bfloat16, bits=None if bits == 16 else bits)
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    command = [sys.executable, "-m", "benchmarks.checkpoint_loading", "--look", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    gib = 2**30
    return (
        str(bits),
        f"{size / gib:.2f}",
        f"{found['opening_s']:.2f}",
        f"{(found['opened'] - found['imports']) / gib:.2f}",
        f"{found['routed']} of {LAYERS * EXPERTS}",
        f"{found['resident'] / gib:.2f}",
        f"{found['peak'] / gib:.2f}",
        f"{found['peak'] / found['resident']:.2f}",
        f"{(found['peak'] - found['imports']) / found['resident']:.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, nargs="+", default=[16, 8, 4], choices=[16, 8, 4])
    parser.add_argument("--scratch", type=Path, help="folder with 10 GB free, on a disk (default: the system's)")
    parser.add_argument("--look", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.look:
        look(arguments.look)
        return
    rows = []
    for bits in arguments.bits:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            rows.append(measure(Path(scratch), bits))
            print("  ".join(rows[-1]))
    columns = (
        "bits of experts", "files, GiB", "opening, s", "taken by opening, GiB", "experts routed to",
        "resident part, GiB", "peak, GiB", "peak / resident", "without imports",
    )  # fmt: skip
    note = f"A prompt of {PROMPT} tokens and a block of 9 masks."
    save("checkpoint-loading", columns, rows, note, "python -m benchmarks.checkpoint_loading")


if __name__ == "__main__":
    main()

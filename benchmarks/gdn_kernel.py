"""The gated delta rule on a CPU: ours beside transformers' torch fallback: `python -m benchmarks.gdn_kernel`.

Shapes of one GDN layer of Qwen3.5-0.8B: 16 heads, dk = dv = 128, one sequence, fp32, random inputs. Both functions
normalise q and k, start from a zero state and return the last one. Rounds alternate between the two; medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from transformers.models.qwen3_5.modeling_qwen3_5 import torch_chunk_gated_delta_rule, torch_recurrent_gated_delta_rule

from benchmarks.tables import save
from model.layers import gated_delta

HEADS, SIZE = 16, 128
LENGTHS = (1, 8, 32, 256, 1024, 4096)


def side_by_side(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median milliseconds of each."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for kept, function in zip(times, (ours, theirs)):
            begin = time.perf_counter()
            function()
            kept.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[0][1:]), statistics.median(times[1][1:])


@torch.inference_mode()
def measure(tokens: int, rounds: int) -> tuple[str, ...]:
    q, k, v = torch.randn(3, 1, tokens, HEADS, SIZE)
    g, beta = -torch.rand(1, tokens, HEADS), torch.rand(1, tokens, HEADS)
    state = torch.zeros(1, HEADS, SIZE, SIZE)
    options = {"initial_state": state, "output_final_state": True, "use_qk_l2norm_in_kernel": True}
    own, other = gated_delta.chunk, torch_chunk_gated_delta_rule
    if tokens == 1:
        own, other = gated_delta.recurrent, torch_recurrent_gated_delta_rule
    found, expected = own(q, k, v, g, beta, state)[0], other(q, k, v, g, beta, **options)[0]
    difference = (found - expected).abs().max().item()
    ours, theirs = side_by_side(
        lambda: own(q, k, v, g, beta, state), lambda: other(q, k, v, g, beta, **options), rounds
    )
    return str(tokens), f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}×", f"{difference:.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    rows = [measure(tokens, rounds) for tokens in LENGTHS]
    for row in rows:
        print("  ".join(row))
    columns = ("tokens", "ours, ms", "transformers, ms", "ratio", "largest difference")
    note = f"Medians of {rounds} alternating rounds, {torch.get_num_threads()} threads."
    save("gdn-kernel", columns, rows, note, "python -m benchmarks.gdn_kernel")


if __name__ == "__main__":
    main()

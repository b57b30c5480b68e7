"""Tokens per second of the three decoders on a CUDA device: `python -m benchmarks.gpu_decoding`.

A random checkpoint in the layout of Clover-35B-A3B, cut to as many layers as the card's memory holds in bf16. Random
weights say nothing of how many drafts a trained model accepts: for diffusion and draft-verify the figures are the
costs of a pass; passes and accepted drafts are printed beside them. Ends with status 1 where there is no CUDA device.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.tables import save
from model.clover import CloverModel
from model.decoding import autoregressive, diffusion, draft_verify
from model.decoding.request import Finished, Generation
from model.layers.fused_delta import fused_kernels
from model.tokenizer import BytePairTokenizer
from model.weights.clover_files import load_clover
from model.weights.synthetic import PUBLISHED, write_random

LAYER_BYTES, OUTER_BYTES = 2 * 840_000_000, 4 * 248_320 * 2048  # bf16
DECODERS: dict[str, Callable[..., Iterator[Any]]] = {
    "autoregressive": autoregressive.generate,
    "diffusion": diffusion.generate,
    "draft-verify": draft_verify.generate,
}


def layers_that_fit(free: int) -> int:
    """In whole groups of three GDN layers and one with attention, at 80 % of what is free."""
    fit = int((0.8 * free - OUTER_BYTES) // LAYER_BYTES) // 4 * 4
    if fit < 4:
        sys.exit(f"the device has {free / 2**30:.0f} GiB free; four layers need {4 * LAYER_BYTES / 2**30:.0f}")
    return min(PUBLISHED["num_hidden_layers"], fit)


def measure(
    name: str, model: CloverModel, tokenizer: BytePairTokenizer, prompt: int, tokens: int, rounds: int
) -> tuple[str, ...]:
    request = Generation(prompt=[65 + i % 26 for i in range(prompt)], max_tokens=tokens, temperature=1.0)
    times, last = [], None
    for _ in range(rounds + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for event in DECODERS[name](model, tokenizer, request):
            last = event
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    assert isinstance(last, Finished)
    seconds = statistics.median(times[1:])
    return name, str(prompt), str(tokens), f"{tokens / seconds:.1f}", str(last.passes), str(last.accepted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no CUDA device: this benchmark measures nothing else")
    layers = arguments.layers or layers_that_fit(torch.cuda.mem_get_info()[0])
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_random(Path(scratch), PUBLISHED | {"num_hidden_layers": layers}, dtype=torch.bfloat16)
        model = load_clover(folder, device="cuda")
        tokenizer = BytePairTokenizer.from_file(folder / "tokenizer.json", 258)
        for name in DECODERS:
            for prompt in (128, 4096):
                rows.append(measure(name, model, tokenizer, prompt, arguments.tokens, arguments.rounds))
                print("  ".join(rows[-1]))
    columns = ("decoder", "prompt", "tokens", "tokens/s, reading included", "passes", "drafts accepted")
    kernels = "flash-linear-attention's" if fused_kernels() else "plain torch"
    note = (
        f"{torch.cuda.get_device_name()}, {layers} of 40 layers, bf16, {kernels} GDN kernels, random weights, "
        f"medians of {arguments.rounds}."
    )
    save("gpu-decoding", columns, rows, note, "python -m benchmarks.gpu_decoding")


if __name__ == "__main__":
    main()

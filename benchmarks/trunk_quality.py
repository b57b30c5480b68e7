"""Bits per byte of the trunk, int8 beside fp32: `python -m benchmarks.trunk_quality`.

Text: files of the standard library and of installed packages, taken at even distances from their sorted list, the first
tokens of each. `int8 without VNNI` rounds weights to 7 bits, as it must be on processors whose kernels would overflow.
"""

from __future__ import annotations

import argparse
import math
import sysconfig
from pathlib import Path
from unittest import mock

import torch
import torch.nn.functional as F

from benchmarks.tables import save
from model.layers import linear
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights.catalogue import load
from model.weights.quantise import calibration_text, quantise


def texts(count: int, root: Path) -> list[str]:
    paths = [path for path in sorted(root.rglob("*.py")) if 3_000 < path.stat().st_size < 60_000]
    return [path.read_text(errors="ignore") for path in paths[:: max(1, len(paths) // count)][:count]]


def bits_per_byte(model: LlamaModel, tokenizer: BytePairTokenizer, documents: list[list[int]]) -> float:
    nats, size = 0.0, 0
    for ids in documents:
        logits, _ = model.commit(ids, model.start())
        nats += F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="sum").item()
        size += sum(len(tokenizer.token_bytes(token)) for token in ids[1:])
    return nats / size / math.log(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=1024)
    options = parser.parse_args()
    exact, tokenizer = load("smollm2", "fp32")
    sources = texts(options.files, Path(sysconfig.get_paths()["stdlib"]))
    documents = [tokenizer.encode(text)[: options.tokens] for text in sources]
    calibration = tokenizer.encode(calibration_text())
    models = {"fp32": exact, "int8": quantise(exact, calibration)}
    with mock.patch.object(linear, "weight_levels", lambda: 63):
        models["int8 without VNNI"] = quantise(exact, calibration)
    found = {name: bits_per_byte(model, tokenizer, documents) for name, model in models.items()}
    rows = [(name, f"{bits:.4f}", f"{100 * (bits / found['fp32'] - 1):+.2f} %") for name, bits in found.items()]
    for row in rows:
        print("  ".join(row))
    note = f"{len(documents)} Python files, {sum(map(len, documents)):,} tokens."
    save(
        "trunk-quality",
        ("precision", "bits per byte", "against fp32"),
        rows,
        note,
        "python -m benchmarks.trunk_quality",
    )


if __name__ == "__main__":
    main()

"""Rewrites a checkpoint with its experts in 8 or 4 bits, one layer in memory at a time."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file

from model.clover_config import CloverConfig
from model.weights.checkpoint import Checkpoint, write_index
from model.weights.expert_banks import quantise
from model.weights.names import canonical

_EXPERTS = re.compile(r"(layers\.\d+\.mlp\.experts\.)")


def quantise_experts(
    source: Path, target: Path, bits: int, progress: Callable[[int, int], None] = lambda done, all_: None
) -> Path:
    """Writes `target`, a folder that `load_clover` reads, and returns it. Dense weights are copied as they are.

    Peak memory is about the experts of one layer in fp32. `progress` is told finished and all shards. Raises
    CheckpointError for a source that cannot be read, ValueError for other bits, FileExistsError for a used target."""
    checkpoint = Checkpoint(source, canonical)
    layers = sorted({match[1] for name in checkpoint.names if (match := _EXPERTS.match(name))})
    if not layers:
        raise ValueError(f"{source} has no experts to quantise")
    count = CloverConfig.from_json(checkpoint.config).experts
    target.mkdir(parents=True)
    places: dict[str, str] = {}

    def write(number: int, tensors: dict[str, torch.Tensor]) -> None:
        file = f"model-{number:05d}.safetensors"
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, target / file, {"format": "pt"})
        places.update(dict.fromkeys(tensors, file))
        progress(number + 1, len(layers) + 1)

    write(0, {name: checkpoint.tensor(name) for name in checkpoint.names if not _EXPERTS.match(name)})
    for number, prefix in enumerate(layers, start=1):
        tensors: dict[str, torch.Tensor] = {}
        for part in ("gate_up_proj", "down_proj"):
            stack = quantise(_fused(checkpoint, prefix, part, count), bits)
            assert stack.scales is not None
            tensors |= {prefix + part: stack.weights, f"{prefix}{part}.scale": stack.scales}
        write(number, tensors)
    write_index(target, places)
    (target / "config.json").write_text(json.dumps(checkpoint.config, indent=1))
    for path in source.glob("tokenizer*"):
        shutil.copy(path, target / path.name)
    return target


def _fused(checkpoint: Checkpoint, prefix: str, part: str, count: int) -> torch.Tensor:
    if prefix + part in checkpoint:
        return checkpoint.tensor(prefix + part)
    names = ("gate_proj", "up_proj") if part == "gate_up_proj" else (part,)
    return torch.stack(
        [torch.cat([checkpoint.tensor(f"{prefix}{x}.{name}.weight") for name in names]) for x in range(count)]
    )

"""The block side's files: half-precision tensors in a safetensors file, its sizes in a JSON file beside it."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from model.block_side import BlockSide, BlockSideConfig
from model.llama import LlamaConfig

SHIPPED = Path(__file__).with_name("sprig")
TENSORS, CONFIG = "block_side.safetensors", "config.json"


def save(side: BlockSide, folder: Path, about: dict) -> None:
    """Writes the tensors in fp16 and the sizes; `about` (steps, seed, command, ...) stand beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: _stored(value.detach()).contiguous().cpu() for name, value in side.state_dict().items()}
    save_file(tensors, folder / TENSORS)
    (folder / CONFIG).write_text(json.dumps({"block_side": side.config.as_json(), **about}, indent=1) + "\n")


def facts(folder: Path = SHIPPED) -> dict:
    """The sizes (`block_side`) and how the block side came about. Raises FileNotFoundError."""
    return json.loads((folder / CONFIG).read_text())


def load(trunk: LlamaConfig, folder: Path = SHIPPED) -> BlockSide:
    """The block side of a folder, in fp32. Raises FileNotFoundError, and ValueError where it does not fit the trunk."""
    sizes = facts(folder)["block_side"]
    side = BlockSide(trunk, BlockSideConfig(**{**sizes, "memory_layers": tuple(sizes["memory_layers"])}))
    tensors = {
        name: value.float() if value.is_floating_point() else value.long()
        for name, value in load_file(folder / TENSORS).items()
    }
    try:
        side.load_state_dict(tensors)
    except RuntimeError as error:
        raise ValueError(f"{folder} holds a block side for another trunk: {error}") from error
    return side


def _stored(value: torch.Tensor) -> torch.Tensor:
    return value.to(torch.float16 if value.is_floating_point() else torch.int32)

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


def save(side: BlockSide, folder: Path, facts: dict) -> None:
    """Writes the tensors in fp16 and the sizes; `facts` (steps, seed, command, ...) stand beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: value.detach().to(torch.float16).contiguous().cpu() for name, value in side.state_dict().items()}
    save_file(tensors, folder / TENSORS)
    (folder / CONFIG).write_text(json.dumps({"block_side": side.config.as_json(), **facts}, indent=1) + "\n")


def load(trunk: LlamaConfig, folder: Path = SHIPPED) -> BlockSide:
    """The block side of a folder, in fp32. Raises FileNotFoundError, and ValueError where it does not fit the trunk."""
    sizes = json.loads((folder / CONFIG).read_text())["block_side"]
    side = BlockSide(trunk, BlockSideConfig(**{**sizes, "memory_layers": tuple(sizes["memory_layers"])}))
    tensors = {name: value.float() for name, value in load_file(folder / TENSORS).items()}
    try:
        side.load_state_dict(tensors)
    except RuntimeError as error:
        raise ValueError(f"{folder} holds a block side for another trunk: {error}") from error
    return side

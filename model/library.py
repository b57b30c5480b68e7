"""A model by name: the embedded ones, a folder with a checkpoint, or owner/model on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model.layers.linear import int8_supported
from model.protocol import BlockModel
from model.tokenizer import BytePairTokenizer
from model.weights import block_side_files, catalogue
from model.weights.bounds import end_ids, read_object

SPRIG = "sprig"
NAMES = (SPRIG, *catalogue.CATALOGUE)


def open_model(name: str = SPRIG, precision: str = "int8") -> tuple[BlockModel[Any], BytePairTokenizer]:
    """The model and its tokenizer; weights are fetched on first use.

    Raises ModelUnavailable, ValueError (a checkpoint that cannot be read, an unknown precision), OSError.
    """
    catalogue.check_precision(precision)
    if name == SPRIG:
        from model.sprig import Sprig

        trunk, tokenizer = catalogue.load("smollm2", precision)
        return Sprig(trunk, block_side_files.load(trunk.config)), tokenizer
    if name in catalogue.CATALOGUE:
        return catalogue.load(name, precision)
    folder = catalogue.find_folder(name)
    if _model_type(folder) in _clover_types():
        return _open_clover(folder, precision)
    return catalogue.load(str(folder), precision)


def _open_clover(folder: Path, precision: str) -> tuple[BlockModel[Any], BytePairTokenizer]:
    """Where there is a GPU, in the checkpoint's own precision unless fp32 is asked for; else in int8 or fp32."""
    import torch

    from model.weights.clover_files import load_clover

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if precision == "fp32":
        model = load_clover(folder, device=device, dtype=torch.float32)
    elif device == "cpu" and int8_supported():
        model = load_clover(folder, dtype=torch.float32, int8=True)
    else:
        model = load_clover(folder, device=device)
    ends = end_ids(folder)
    if not ends:
        raise ValueError(f"{folder} names no eos_token_id, neither in config.json nor in generation_config.json")
    return model, BytePairTokenizer.from_file(folder / "tokenizer.json", *ends)


def _model_type(folder: Path) -> str:
    return str(read_object(folder / "config.json").get("model_type", ""))


def _clover_types() -> tuple[str, ...]:
    from model.weights.clover_files import MODEL_TYPES

    return MODEL_TYPES

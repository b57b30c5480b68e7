"""The model behind the completions."""

from __future__ import annotations

from typing import Any


def load(name: str, precision: str) -> tuple[Any, Any]:
    """A model and its tokenizer by name or folder. Raises what `model.library.open_model` raises."""
    from model.library import open_model
    from model.sprig import Sprig

    model, tokenizer = open_model(name, precision)
    if isinstance(model, Sprig):
        model.memory = False  # what a memory took up cannot be taken back when the cursor moves
    return model, tokenizer

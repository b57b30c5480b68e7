"""The model behind the completions."""

from __future__ import annotations

from typing import Any


def load(name: str, precision: str) -> tuple[Any, Any]:
    """A model and its tokenizer by name or folder. Raises what `model.library.open_model` raises."""
    from model.library import open_model

    return open_model(name, precision)

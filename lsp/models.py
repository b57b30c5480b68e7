"""The model behind the completions."""

from __future__ import annotations

from typing import Any


def load(name: str, precision: str) -> tuple[Any, Any]:
    """A model and its tokenizer by name or folder. Raises what `model.weights.catalogue.load` raises."""
    from model.weights import catalogue

    return catalogue.load(name, precision)

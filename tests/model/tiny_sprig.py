"""A tiny random trunk and a block side whose every part is switched on, for tests."""

from __future__ import annotations

import torch

from model.block_side import BlockSide, BlockSideConfig
from model.layers.linear import FloatLinear
from model.llama import LlamaConfig, LlamaLayer, LlamaModel

CONFIG = LlamaConfig(
    vocabulary=96, width=32, layers=3, heads=4, kv_heads=2, head_size=8, hidden=48, norm_epsilon=1e-5,
    rope_base=10_000.0, context=256, end_id=1, begin_id=0,
)  # fmt: skip


def tiny_trunk(seed: int = 0) -> LlamaModel:
    random = torch.Generator().manual_seed(seed)

    def weight(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=random) * shape[-1] ** -0.5

    inner = CONFIG.heads * CONFIG.head_size
    both = inner + 2 * CONFIG.kv_heads * CONFIG.head_size
    layers = [
        LlamaLayer(
            torch.ones(CONFIG.width), FloatLinear(weight(both, CONFIG.width)), FloatLinear(weight(CONFIG.width, inner)),
            torch.ones(CONFIG.width), FloatLinear(weight(2 * CONFIG.hidden, CONFIG.width)),
            FloatLinear(weight(CONFIG.width, CONFIG.hidden)), CONFIG.heads, CONFIG.kv_heads, CONFIG.norm_epsilon,
        )
        for _ in range(CONFIG.layers)
    ]  # fmt: skip
    embedding_VE = weight(CONFIG.vocabulary, CONFIG.width) * 3
    return LlamaModel(CONFIG, layers, embedding_VE, torch.ones(CONFIG.width), FloatLinear(embedding_VE))


def tiny_side(seed: int = 1) -> BlockSide:
    """All parameters random, the history slots open."""
    torch.manual_seed(seed)
    side = BlockSide(CONFIG, BlockSideConfig(rank=4, slots=40, memory_layers=(0, 2), chunk=4, sampler=16, successor=16))
    with torch.no_grad():
        for name, parameter in side.named_parameters():
            if "gates" not in name and "slope" not in name:
                parameter.normal_(std=0.3)
    return side

"""A random Llama model of a few thousand weights, built anew in every test that asks."""

from __future__ import annotations

import torch

from model.layers.linear import FloatLinear
from model.llama import LlamaConfig, LlamaLayer, LlamaModel

torch.set_num_threads(1)  # tiny tensors: a second thread only waits

CONFIG = LlamaConfig(
    vocabulary=96,
    width=32,
    layers=3,
    heads=4,
    kv_heads=2,
    head_size=8,
    hidden=48,
    norm_epsilon=1e-5,
    rope_base=10_000.0,
    context=256,
    end_id=1,
    begin_id=0,
)


def tiny_llama(seed: int = 0, config: LlamaConfig = CONFIG, **bounds: int) -> LlamaModel:
    random = torch.Generator().manual_seed(seed)

    def weight(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random) / shape[-1] ** 0.5 * 2

    heads = (config.heads + 2 * config.kv_heads) * config.head_size
    layers = [
        LlamaLayer(
            attention_norm=1 + 0.1 * weight(config.width),
            qkv=FloatLinear(weight(heads, config.width)),
            output=FloatLinear(weight(config.width, config.heads * config.head_size)),
            mlp_norm=1 + 0.1 * weight(config.width),
            gate_up=FloatLinear(weight(2 * config.hidden, config.width)),
            down=FloatLinear(weight(config.width, config.hidden)),
            heads=config.heads,
            kv_heads=config.kv_heads,
            epsilon=config.norm_epsilon,
        )
        for _ in range(config.layers)
    ]
    embedding = weight(config.vocabulary, config.width)
    return LlamaModel(config, layers, embedding, torch.ones(config.width), FloatLinear(embedding), **bounds)


def some_ids(count: int, seed: int = 1) -> list[int]:
    return torch.randint(2, 96, (count,), generator=torch.Generator().manual_seed(seed)).tolist()

"""Random checkpoints in the published layout: for tests, benchmarks, and trying a machine before a large download."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, decoders, models, pre_tokenizers

from model.clover_config import LINEAR, CloverConfig
from model.weights import names
from model.weights.checkpoint import write_index
from model.weights.expert_banks import quantise

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>")

TINY: dict[str, Any] = {
    "architectures": ["CloverMoeForCausalLM"],
    "model_type": "clover_moe",
    "vocab_size": 256 + len(SPECIAL),
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
    "max_position_embeddings": 4096,
    "eos_token_id": 258,
    "bd_mask_token_id": 259,
    "bd_block_size": 8,
    "bd_expert_coreset": 4,
}

PUBLISHED: dict[str, Any] = TINY | {
    "vocab_size": 248_320,
    "hidden_size": 2048,
    "num_hidden_layers": 40,
    "num_attention_heads": 16,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
    "max_position_embeddings": 131_072,
    "eos_token_id": 248_046,
    "bd_mask_token_id": 248_077,
    "bd_block_size": 32,
    "bd_expert_coreset": 48,
}
"""The sizes of Clover-35B-A3B; cut layers or experts by overriding them."""


def write_random(
    folder: Path,
    config: Mapping[str, Any] = TINY,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    bits: int | None = None,
) -> Path:
    """Writes config, one shard per layer and one for the rest, a byte-level tokenizer, and returns the folder.

    `bits` 8 or 4 quantises the experts. Peak memory is a few times the largest layer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dict(config), indent=1))
    sizes = CloverConfig.from_json(config)
    draw = torch.Generator().manual_seed(seed)
    places: dict[str, str] = {}
    for number, shapes in enumerate(_shards(sizes, config)):
        file = f"model-{number:05d}.safetensors"
        tensors = {name: _random(name, shape, draw).to(dtype) for name, shape in shapes.items()}
        if bits is not None:
            _quantise_experts(tensors, bits)
        save_file(tensors, folder / file, {"format": "pt"})
        places |= dict.fromkeys(tensors, file)
    write_index(folder, places)
    write_byte_tokenizer(folder, sizes.vocabulary)
    return folder


def write_byte_tokenizer(folder: Path, vocabulary: int) -> None:
    """`tokenizer.json` of 256 bytes and the special tokens, as far as the vocabulary has room."""
    letters = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    backend = tokenizers.Tokenizer(models.BPE(vocab=letters, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL[: vocabulary - 256]])
    backend.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))


def _shards(sizes: CloverConfig, config: Mapping[str, Any]) -> Iterator[dict[str, tuple[int, ...]]]:
    width = sizes.width
    outer = {"model.embed_tokens.weight": (sizes.vocabulary, width), "model.norm.weight": (width,)}
    yield outer if sizes.tied else outer | {"lm_head.weight": (sizes.vocabulary, width)}
    for index, kind in enumerate(sizes.layer_types):
        parts: dict[str, tuple[int, ...]] = {"input_layernorm.weight": (width,)}
        parts["post_attention_layernorm.weight"] = (width,)
        mixer = _delta_net(sizes) if kind == LINEAR else _attention(sizes)
        prefix = "linear_attn." if kind == LINEAR else "self_attn."
        parts |= {prefix + name: shape for name, shape in mixer.items()}
        mlp = _experts(sizes, config) if sizes.sparse[index] else _feed_forward(width, config["intermediate_size"])
        parts |= {f"mlp.{name}": shape for name, shape in mlp.items()}
        yield {f"model.layers.{index}.{name}": shape for name, shape in parts.items()}


def _delta_net(sizes: CloverConfig) -> dict[str, tuple[int, ...]]:
    heads = sizes.gdn_value_heads
    return {
        "in_proj_qkv.weight": (sizes.conv_width, sizes.width),
        "in_proj_z.weight": (sizes.value_width, sizes.width),
        "in_proj_b.weight": (heads, sizes.width),
        "in_proj_a.weight": (heads, sizes.width),
        "conv1d.weight": (sizes.conv_width, 1, sizes.kernel),
        "A_log": (heads,),
        "dt_bias": (heads,),
        "norm.weight": (sizes.gdn_value_size,),
        "out_proj.weight": (sizes.width, sizes.value_width),
        names.CONV_RIGHT: (sizes.conv_width * (sizes.kernel - 1),),
        names.LOGIT_SCALE: (heads,),
        names.HISTORY_BIAS: (heads,),
        names.HISTORY_SLOPE: (heads,),
    }


def _attention(sizes: CloverConfig) -> dict[str, tuple[int, ...]]:
    width, inner, keys = sizes.width, sizes.heads * sizes.head_size, sizes.kv_heads * sizes.head_size
    return {
        "q_proj.weight": (2 * inner, width),
        "k_proj.weight": (keys, width),
        "v_proj.weight": (keys, width),
        "o_proj.weight": (width, inner),
        "q_norm.weight": (sizes.head_size,),
        "k_norm.weight": (sizes.head_size,),
    }


def _feed_forward(width: int, inner: int) -> dict[str, tuple[int, ...]]:
    return {"gate_proj.weight": (inner, width), "up_proj.weight": (inner, width), "down_proj.weight": (width, inner)}


def _experts(sizes: CloverConfig, config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, count = sizes.width, config["moe_intermediate_size"], sizes.experts
    shared = _feed_forward(width, config["shared_expert_intermediate_size"])
    return {
        "gate.weight": (count, width),
        "experts.gate_up_proj": (count, 2 * inner, width),
        "experts.down_proj": (count, width, inner),
        "shared_expert_gate.weight": (1, width),
    } | {f"shared_expert.{name}": shape for name, shape in shared.items()}


def _random(name: str, shape: tuple[int, ...], draw: torch.Generator) -> torch.Tensor:
    """Of a scale that keeps activations moderate: matrices 1/√inputs, gates and norms near where training puts them."""
    if name.endswith("A_log"):
        return torch.empty(shape).uniform_(0.1, 2.0, generator=draw).log()
    if name.endswith((names.LOGIT_SCALE, names.HISTORY_SLOPE)) or name.endswith("linear_attn.norm.weight"):
        return 1 + 0.2 * torch.randn(shape, generator=draw)
    if "conv" in name:
        return 0.5 * torch.randn(shape, generator=draw)
    scale = 0.2 if len(shape) == 1 else 1.0 if "embed_tokens" in name else 1 / math.sqrt(shape[-1])
    return torch.empty(shape).normal_(0, scale, generator=draw)


def _quantise_experts(tensors: dict[str, torch.Tensor], bits: int) -> None:
    for name in [name for name in tensors if "mlp.experts." in name]:
        stack = quantise(tensors[name], bits)
        assert stack.scales is not None
        tensors[name], tensors[name + ".scale"] = stack.weights, stack.scales

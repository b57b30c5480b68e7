"""Llama-family checkpoints from GGUF files and from folders in the Hugging Face layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from model.layers.linear import FloatLinear
from model.llama import LlamaConfig, LlamaLayer, LlamaModel
from model.weights import bounds
from model.weights.checkpoint import Checkpoint
from model.weights.gguf import GGUF

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")

_GGUF_NAMES = {
    "attention_norm": "attn_norm",
    "mlp_norm": "ffn_norm",
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "output": "attn_output",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
    "q_norm": "attn_q_norm",
    "k_norm": "attn_k_norm",
}
_FOLDER_NAMES = {
    "attention_norm": "input_layernorm",
    "mlp_norm": "post_attention_layernorm",
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
    "q_norm": "self_attn.q_norm",
    "k_norm": "self_attn.k_norm",
}


@dataclass(frozen=True)
class LlamaParts:
    """A checkpoint as far as it must be in memory: `frame` is the model without its layers, which are made in fp32 as
    they are taken."""

    frame: LlamaModel
    layers: Iterable[LlamaLayer]

    def model(self) -> LlamaModel:
        """The whole model in fp32."""
        return self.frame.with_projections(list(self.layers), self.frame.head)


def _layers(config: LlamaConfig, find: Callable[[int, str], torch.Tensor | None]) -> Iterator[LlamaLayer]:
    """`find(layer, part)` gives weights by the names above and biases as `part + ".bias"`, None where absent. Raises
    ValueError where one is missing."""

    def need(layer: int, part: str) -> torch.Tensor:
        found = find(layer, part)
        if found is None:
            raise ValueError(f"the checkpoint has no {part} in layer {layer}: it is not of the Llama family or cut off")
        return found

    def fused(layer: int, parts: tuple[str, ...]) -> FloatLinear:
        biases = [find(layer, f"{part}.bias") for part in parts]
        weight = torch.cat([need(layer, part) for part in parts])
        return FloatLinear(
            weight, None if biases[0] is None else torch.cat([bias for bias in biases if bias is not None])
        )

    def head_norm(layer: int) -> torch.Tensor | None:
        queries, keys = find(layer, "q_norm"), find(layer, "k_norm")
        if queries is None or keys is None:
            return None
        return torch.cat([queries.expand(config.heads, -1), keys.expand(config.kv_heads, -1)])

    for index in range(config.layers):
        yield LlamaLayer(
            attention_norm=need(index, "attention_norm"),
            qkv=fused(index, ("q", "k", "v")),
            output=fused(index, ("output",)),
            mlp_norm=need(index, "mlp_norm"),
            gate_up=fused(index, ("gate", "up")),
            down=fused(index, ("down",)),
            heads=config.heads,
            kv_heads=config.kv_heads,
            epsilon=config.norm_epsilon,
            head_norm=head_norm(index),
        )


def llama_from_gguf(file: GGUF, begin_id: int | None = None) -> LlamaModel:
    """Raises ValueError where the file holds another architecture."""
    data = file.metadata
    if data.get("general.architecture") != "llama":
        raise ValueError(f"the GGUF file holds a {data.get('general.architecture')} model; only llama can be read")
    width, heads = data["llama.embedding_length"], data["llama.attention.head_count"]
    config = LlamaConfig(
        vocabulary=len(data["tokenizer.ggml.tokens"]),
        width=width,
        layers=data["llama.block_count"],
        heads=heads,
        kv_heads=data.get("llama.attention.head_count_kv", heads),
        head_size=data.get("llama.rope.dimension_count", width // heads),
        hidden=data["llama.feed_forward_length"],
        norm_epsilon=data["llama.attention.layer_norm_rms_epsilon"],
        rope_base=data.get("llama.rope.freq_base", 10_000.0),
        context=data["llama.context_length"],
        end_id=data["tokenizer.ggml.eos_token_id"],
        begin_id=begin_id,
    )

    def find(layer: int, part: str) -> torch.Tensor | None:
        name, dot, bias = part.partition(".")
        stored = f"blk.{layer}.{_GGUF_NAMES[name]}.{bias if dot else 'weight'}"
        return file.tensor(stored) if stored in file else None

    embedding = file.tensor("token_embd.weight")
    head = file.tensor("output.weight") if "output.weight" in file else embedding
    frame = LlamaModel(config, [], embedding, file.tensor("output_norm.weight"), FloatLinear(head))
    return LlamaParts(frame, _layers(config, find)).model()


def _pairwise(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Reorders the rows of a projection or of a norm from the half-split rotary layout to the pairwise one."""
    return rows.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def open_folder(folder: Path) -> LlamaParts:
    """From `config.json` and `*.safetensors`, which stay mapped. Raises ValueError where they are missing or of another
    architecture."""
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder} has no config.json: it is not a model folder")
    raw = bounds.read_object(folder / "config.json")
    try:
        config = _config(folder, raw)
    except KeyError as missing:
        raise ValueError(f"{folder}: config.json has no {missing}") from None
    checkpoint = Checkpoint(folder)
    heads_of = {"q": config.heads, "k": config.kv_heads, "q_norm": 1, "k_norm": 1}

    def find(layer: int, part: str) -> torch.Tensor | None:
        name, dot, bias = part.partition(".")
        found = checkpoint.find(f"model.layers.{layer}.{_FOLDER_NAMES[name]}.{bias if dot else 'weight'}")
        if found is None:
            return None
        return _pairwise(found.float(), heads_of[name]) if name in heads_of else found.float()

    embedding_VE = checkpoint.tensor("model.embed_tokens.weight").float()
    head = checkpoint.find("lm_head.weight")
    head_VE = embedding_VE if head is None else head.float()
    norm_E = checkpoint.tensor("model.norm.weight").float()
    return LlamaParts(LlamaModel(config, [], embedding_VE, norm_E, FloatLinear(head_VE)), _layers(config, find))


def _config(folder: Path, raw: dict[str, Any]) -> LlamaConfig:
    """Raises KeyError for what is missing, ValueError for another architecture."""
    kind = raw.get("model_type")
    if kind not in MODEL_TYPES:
        raise ValueError(f"{folder} holds a {kind} model; {', '.join(MODEL_TYPES)} can be read here")
    # Qwen's configs name a width that is only used where they say so
    if raw.get("use_sliding_window", kind == "mistral" and raw.get("sliding_window") is not None):
        raise ValueError(f"{folder}: sliding-window layers cannot be read")
    rope = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
    scaling = rope.get("rope_type", rope.get("type", "default"))
    if scaling not in ("default", "llama3"):
        raise ValueError(f"{folder}: rotary scaling {scaling!r} cannot be read")
    return LlamaConfig(
        vocabulary=raw["vocab_size"],
        width=raw["hidden_size"],
        layers=raw["num_hidden_layers"],
        heads=raw["num_attention_heads"],
        kv_heads=raw.get("num_key_value_heads") or raw["num_attention_heads"],
        head_size=raw.get("head_dim") or raw["hidden_size"] // raw["num_attention_heads"],
        hidden=raw["intermediate_size"],
        norm_epsilon=raw["rms_norm_eps"],
        rope_base=rope.get("rope_theta") or raw.get("rope_theta") or 10_000.0,
        context=raw["max_position_embeddings"],
        end_id=next(iter(bounds.end_ids(folder)), 0),
        begin_id=bounds.begin_id(folder),
        rope_scaling=rope if scaling == "llama3" else None,
    )

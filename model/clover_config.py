"""Sizes and constants of a Clover or Qwen3.5-family checkpoint, read from its config.json.

Sources: the configuration classes of Qwen3-Next and Qwen3.5 in Hugging Face transformers. What Clover's own config
calls its block settings is not published; `from_json` therefore looks under the names below and else takes the default
that is documented with the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LINEAR, FULL = "linear_attention", "full_attention"
VALUE_MIXES = ("plain", "beta")
QWEN35_VOCABULARY = 248_320
QWEN35_FIRST_FREE = 248_077  # first embedding row without a token; FLARE takes it for its mask as well


@dataclass(frozen=True)
class BlockSettings:
    """How a checkpoint wants its blocks previewed.

    mask_id: the token that stands for a mask (`mask_token_id`; default: 248077, the first free row, in a vocabulary of
    248,320, else the last row). size: rows of a block (`block_size`, default 32). threshold: confidence from which a
    position is settled (`confidence_threshold`, default 0.9). steps: most denoising passes per block
    (`denoising_steps`, default `size`). coreset: experts that a block may use per layer (`expert_coreset`, default
    3/16 of the experts as in LLaDA2.2, but at least a token's own number). value_mix: "plain" mixes the values of the
    block's rows as they are, "beta" scales each by its write strength (`value_mix`, default plain).

    In config.json they may stand at the top, or under `block_diffusion`, or with the prefix `bd_`.
    """

    mask_id: int
    size: int
    threshold: float
    steps: int
    coreset: int
    value_mix: str


@dataclass(frozen=True)
class CloverConfig:
    """`layer_types` holds "linear_attention" (GDN) or "full_attention" per layer, `sparse` whether its MLP is an MoE.
    `rotary` counts the head's numbers that turn. Sizes are in numbers, `context` in tokens."""

    vocabulary: int
    width: int
    layer_types: tuple[str, ...]
    sparse: tuple[bool, ...]
    norm_epsilon: float
    tied: bool
    heads: int
    kv_heads: int
    head_size: int
    rotary: int
    rope_base: float
    context: int
    gdn_key_heads: int
    gdn_value_heads: int
    gdn_key_size: int
    gdn_value_size: int
    kernel: int
    experts: int
    experts_per_token: int
    renormalise: bool
    block: BlockSettings

    @property
    def key_width(self) -> int:
        return self.gdn_key_heads * self.gdn_key_size

    @property
    def value_width(self) -> int:
        return self.gdn_value_heads * self.gdn_value_size

    @property
    def conv_width(self) -> int:
        return 2 * self.key_width + self.value_width

    @property
    def attention_layers(self) -> tuple[int, ...]:
        return tuple(index for index, kind in enumerate(self.layer_types) if kind == FULL)

    @classmethod
    def from_json(cls, whole: Mapping[str, Any]) -> CloverConfig:
        """From the parsed config.json. Raises ValueError, naming the key, where it describes another architecture."""
        json: Mapping[str, Any] = {**whole, **whole.get("text_config", {})}
        try:
            return cls._read(json, whole)
        except KeyError as missing:
            raise ValueError(
                f"config.json has no {missing}: not a checkpoint of the Qwen3.5 or Clover family"
            ) from None

    @classmethod
    def _read(cls, json: Mapping[str, Any], whole: Mapping[str, Any]) -> CloverConfig:
        if json.get("hidden_act", "silu") != "silu":
            raise ValueError(f"hidden_act is {json['hidden_act']!r}; this family uses silu")
        count, interval = json["num_hidden_layers"], json.get("full_attention_interval", 4)
        kinds = json.get("layer_types") or [LINEAR if (i + 1) % interval else FULL for i in range(count)]
        if len(kinds) != count or not set(kinds) <= {LINEAR, FULL}:
            raise ValueError(f"layer_types {kinds} do not describe {count} layers of linear or full attention")
        rope = json.get("rope_parameters") or json.get("rope_scaling") or {}
        if rope.get("rope_type", rope.get("type", "default")) not in ("default", "mrope"):
            raise ValueError(f"rope_parameters ask for {rope}; only the plain kind is supported")
        head_size = json.get("head_dim") or json["hidden_size"] // json["num_attention_heads"]
        factor = rope.get("partial_rotary_factor", json.get("partial_rotary_factor", 0.25))
        experts, step = json.get("num_experts", 0), json.get("decoder_sparse_step", 1)
        dense = set(json.get("mlp_only_layers") or ())
        return cls(
            vocabulary=json["vocab_size"],
            width=json["hidden_size"],
            layer_types=tuple(kinds),
            sparse=tuple(experts > 0 and i not in dense and (i + 1) % step == 0 for i in range(count)),
            norm_epsilon=json.get("rms_norm_eps", 1e-6),
            tied=whole.get("tie_word_embeddings", json.get("tie_word_embeddings", False)),
            heads=json["num_attention_heads"],
            kv_heads=json["num_key_value_heads"],
            head_size=head_size,
            rotary=int(head_size * factor),
            rope_base=rope.get("rope_theta", json.get("rope_theta", 1e7)),
            context=json.get("max_position_embeddings", 131_072),
            gdn_key_heads=json["linear_num_key_heads"],
            gdn_value_heads=json["linear_num_value_heads"],
            gdn_key_size=json["linear_key_head_dim"],
            gdn_value_size=json["linear_value_head_dim"],
            kernel=json.get("linear_conv_kernel_dim", 4),
            experts=experts,
            experts_per_token=json.get("num_experts_per_tok", 0),
            renormalise=json.get("norm_topk_prob", True),
            block=_block_settings(json, experts),
        )


def _block_settings(json: Mapping[str, Any], experts: int) -> BlockSettings:
    nested = json.get("block_diffusion", {})

    def setting(name: str, default: Any) -> Any:
        for found in (nested.get(name), json.get(f"bd_{name}"), json.get(name)):
            if found is not None:
                return found
        return default

    vocabulary = json["vocab_size"]
    size = setting("block_size", 32)
    mix = setting("value_mix", "plain")
    if mix not in VALUE_MIXES:
        raise ValueError(f"value_mix is {mix!r}; known are {', '.join(VALUE_MIXES)}")
    return BlockSettings(
        mask_id=setting("mask_token_id", QWEN35_FIRST_FREE if vocabulary == QWEN35_VOCABULARY else vocabulary - 1),
        size=size,
        threshold=setting("confidence_threshold", 0.9),
        steps=setting("denoising_steps", size),
        coreset=setting("expert_coreset", max(json.get("num_experts_per_tok", 0), experts * 3 // 16)),
        value_mix=mix,
    )

"""Clover and Qwen3.5-family models from folders in the Hugging Face layout."""

from __future__ import annotations

from pathlib import Path

import torch

from model.clover import CloverLayer, CloverModel
from model.clover_config import LINEAR, CloverConfig
from model.layers.attention import GatedAttention
from model.layers.block_softmax import BlockSoftmax
from model.layers.experts import FeedForward, SparseExperts
from model.layers.gated_delta_net import GatedDeltaNet
from model.layers.linear import FloatLinear, Int8Linear, Linear
from model.layers.norm import GatedNorm, ZeroCentredNorm
from model.weights import names
from model.weights.checkpoint import Checkpoint
from model.weights.expert_banks import open_bank

MODEL_TYPES = ("qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "clover_moe", "clover")


def load_clover(
    folder: Path,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | None = None,
    int8: bool = False,
    attention_window: int | None = None,
) -> CloverModel:
    """The model in a folder. Weights stay in the mapped files where device and dtype allow it, experts always do on a
    CPU. `dtype` None keeps the checkpoint's own. `int8` rounds the dense projections on a CPU that has the kernels
    (`model.layers.linear.int8_supported`), without smoothing: that would have to read a text, and so touch every expert
    of a mapped file. Routers and gates keep their precision. `dtype` should then be fp32, which the kernels take.

    Raises CheckpointError or ValueError, saying what is missing or unknown."""
    checkpoint = Checkpoint(folder, names.canonical)
    config = CloverConfig.from_json(checkpoint.config)
    return _Builder(checkpoint, config, torch.device(device), dtype, int8).build(attention_window)


class _Builder:
    def __init__(
        self,
        checkpoint: Checkpoint,
        config: CloverConfig,
        device: torch.device,
        dtype: torch.dtype | None,
        int8: bool,
    ) -> None:
        self.checkpoint = checkpoint
        self.config = config
        self.device = device
        self.embedding = checkpoint.tensor("embed_tokens.weight")
        self.dtype = dtype or self.embedding.dtype
        self.int8 = int8

    def build(self, attention_window: int | None) -> CloverModel:
        embedding_VE = self.embedding.to(self.device)
        head = embedding_VE if self.config.tied else self.checkpoint.tensor("lm_head.weight")
        precision = str(self.dtype).removeprefix("torch.") + ("-int8" if self.int8 else "")
        return CloverModel(
            self.config,
            [self._layer(index) for index in range(len(self.config.layer_types))],
            embedding_VE,
            self._norm("norm"),
            self._projection(head, None),
            model_id=f"{self.checkpoint.fingerprint()}-{precision}",
            dtype=self.dtype,
            device=self.device,
            attention_window=attention_window,
        )

    def _layer(self, index: int) -> CloverLayer:
        prefix = f"layers.{index}."
        linear = self.config.layer_types[index] == LINEAR
        return CloverLayer(
            mixer_norm=self._norm(prefix + "input_layernorm"),
            mixer=self._delta_net(prefix + "linear_attn.") if linear else self._attention(prefix + "self_attn."),
            mlp_norm=self._norm(prefix + "post_attention_layernorm"),
            mlp=self._experts(prefix + "mlp.") if self.config.sparse[index] else self._feed_forward(prefix + "mlp."),
        )

    def _attention(self, prefix: str) -> GatedAttention:
        return GatedAttention(
            q=self._linear(prefix + "q_proj"),
            k=self._linear(prefix + "k_proj"),
            v=self._linear(prefix + "v_proj"),
            output=self._linear(prefix + "o_proj"),
            q_norm=self._norm(prefix + "q_norm"),
            k_norm=self._norm(prefix + "k_norm"),
            heads=self.config.heads,
            kv_heads=self.config.kv_heads,
        )

    def _delta_net(self, prefix: str) -> GatedDeltaNet:
        config, tensor = self.config, self.checkpoint.tensor
        if prefix + "in_proj_qkvz.weight" in self.checkpoint:
            woven, heads = tensor(prefix + "in_proj_qkvz.weight"), config.gdn_key_heads
            qkv, z = names.unweave_qkvz(woven, heads, config.gdn_key_size, config.gdn_value_size)
            b, a = names.unweave_ba(tensor(prefix + "in_proj_ba.weight"), heads)
        else:
            qkv, z, b, a = (tensor(f"{prefix}in_proj_{part}.weight") for part in ("qkv", "z", "b", "a"))
        right = self.checkpoint.find(prefix + names.CONV_RIGHT)
        if right is None:
            right = torch.zeros(config.conv_width, config.kernel - 1)
        return GatedDeltaNet(
            qkv=self._projection(qkv, None),
            z=self._projection(z, None),
            b=FloatLinear(self._move(b)),
            a=FloatLinear(self._move(a)),
            output=self._linear(prefix + "out_proj"),
            norm=GatedNorm(tensor(prefix + "norm.weight").to(self.device), config.norm_epsilon),
            taps_CK=self._move(tensor(prefix + "conv1d.weight").squeeze(1)),
            right_CK=self._move(right.reshape(config.conv_width, config.kernel - 1)),
            decay_H=tensor(prefix + "A_log").to(self.device).float().exp(),
            dt_bias_H=tensor(prefix + "dt_bias").to(self.device).float(),
            block=self._block_softmax(prefix),
            scale_values=config.block.value_mix == "beta",
            key_heads=config.gdn_key_heads,
            value_heads=config.gdn_value_heads,
            key_size=config.gdn_key_size,
        )

    def _block_softmax(self, prefix: str) -> BlockSoftmax:
        parts = (names.LOGIT_SCALE, names.HISTORY_BIAS, names.HISTORY_SLOPE)
        if all(prefix + part not in self.checkpoint for part in parts):
            return BlockSoftmax.untrained(self.config.gdn_value_heads, self.device)
        return BlockSoftmax(*(self.checkpoint.tensor(prefix + part).to(self.device).float() for part in parts))

    def _feed_forward(self, prefix: str) -> FeedForward:
        return FeedForward(*(self._linear(prefix + part) for part in ("gate_proj", "up_proj", "down_proj")))

    def _experts(self, prefix: str) -> SparseExperts:
        config = self.config
        return SparseExperts(
            router_XE=self._move(self.checkpoint.tensor(prefix + "gate.weight")),
            bank=open_bank(self.checkpoint, prefix + "experts.", config.experts, self.device),
            shared=self._feed_forward(prefix + "shared_expert."),
            shared_gate=FloatLinear(self._move(self.checkpoint.tensor(prefix + "shared_expert_gate.weight"))),
            per_token=config.experts_per_token,
            renormalise=config.renormalise,
            coreset=config.block.coreset,
        )

    def _linear(self, name: str) -> Linear:
        return self._projection(self.checkpoint.tensor(name + ".weight"), self.checkpoint.find(name + ".bias"))

    def _projection(self, weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
        bias = None if bias is None else self._move(bias)
        if self.int8:
            return Int8Linear.of(weight, bias, torch.ones(weight.shape[1]))
        return FloatLinear(self._move(weight), bias)

    def _norm(self, name: str) -> ZeroCentredNorm:
        return ZeroCentredNorm(self.checkpoint.tensor(name + ".weight").to(self.device), self.config.norm_epsilon)

    def _move(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device, self.dtype)

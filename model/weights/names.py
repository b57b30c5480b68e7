"""Tensor names of Qwen3-Next, Qwen3.5 and Clover checkpoints, brought to one form.

The form: `embed_tokens.weight`, `norm.weight`, `lm_head.weight`, `layers.N.…` with the parts' names of Qwen3.5.
"""

from __future__ import annotations

import torch

_PREFIXES = ("model.language_model.", "language_model.model.", "language_model.", "model.")
_SKIPPED = ("mtp.", "model.visual.", "visual.", "model.mtp.")

# Clover's four tensors of a GDN layer, behind `layers.N.linear_attn.`
CONV_RIGHT = "conv_right_weight"
LOGIT_SCALE = "bd_softmax_logit_scale"
HISTORY_BIAS = "bd_softmax_history_bias"
HISTORY_SLOPE = "bd_softmax_history_c"


def canonical(name: str) -> str | None:
    """A checkpoint's name in the one form; None for parts that text needs not (vision, multi-token prediction)."""
    if name.startswith(_SKIPPED):
        return None
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def unweave_qkvz(
    weight_OE: torch.Tensor, key_heads: int, key_size: int, value_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Qwen3-Next's `in_proj_qkvz`, woven per key head as (q, k, r values, r gates), to [q | k | v] and z."""
    heads = weight_OE.unflatten(0, (key_heads, -1))
    values = (heads.shape[1] - 2 * key_size) // 2
    if values % value_size:
        raise ValueError(f"in_proj_qkvz has {heads.shape[1]} rows per key head, which do not hold whole value heads")
    q, k, v, z = (part.flatten(0, 1) for part in heads.split((key_size, key_size, values, values), dim=1))
    return torch.cat([q, k, v]), z


def unweave_ba(weight_OE: torch.Tensor, key_heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Qwen3-Next's `in_proj_ba`, woven per key head as (r b, r a), to b and a."""
    b, a = weight_OE.unflatten(0, (key_heads, -1)).chunk(2, dim=1)
    return b.flatten(0, 1), a.flatten(0, 1)

"""The GDN layer: projections, short convolution, gates, delta rule, gated norm; and the same layer over a block.

Architecture: Gated DeltaNet (arXiv 2412.06464) as in Qwen3-Next; the block pass is Clover's. Shape letters: T rows,
E width, C convolution channels, G key heads, H value heads, K key size, V value size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from model.layers import short_conv
from model.layers.block_softmax import BlockSoftmax
from model.layers.fused_delta import delta_rule
from model.layers.gated_delta import l2_normalise, read
from model.layers.linear import Linear
from model.layers.norm import GatedNorm

Parts = tuple[torch.Tensor, torch.Tensor]
"""A layer's state: the delta matrices [H, K, V] in fp32 and the tail of the convolution [taps − 1, C]."""


@dataclass
class GatedDeltaNet:
    """`taps_CK` and `right_CK` are the convolution's taps to the left (with the row itself) and to the right."""

    qkv: Linear
    z: Linear
    b: Linear
    a: Linear
    output: Linear
    norm: GatedNorm
    taps_CK: torch.Tensor
    right_CK: torch.Tensor
    decay_H: torch.Tensor  # exp(A_log), fp32
    dt_bias_H: torch.Tensor
    block: BlockSoftmax
    scale_values: bool
    key_heads: int
    value_heads: int
    key_size: int

    def __call__(self, x_TE: torch.Tensor, known: int, state: Parts) -> tuple[torch.Tensor, Callable[[int], Parts]]:
        """Rows [T, E]: the first `known` causal, the rest one block behind them that changes nothing. `after(n)` is the
        state when the first n ≤ known rows have been read."""
        mixed_TC, b_TH, a_TH = self.qkv(x_TE), self.b(x_TE), self.a(x_TE)
        delta_HKV, tail = state
        outputs, after = [], lambda n: state
        if known:
            convolved, inputs = short_conv.causal(mixed_TC[:known], tail, self.taps_CK)
            q, k, v = self._heads(convolved)
            g_TH = -self.decay_H * F.softplus(a_TH[:known].float() + self.dt_bias_H)
            beta_TH = b_TH[:known].float().sigmoid()
            found, delta_HKV = _one(q, k, v, g_TH, beta_TH, state[0])
            outputs.append(found)
            after = _Prefixes(q, k, v, g_TH, beta_TH, state[0], delta_HKV, inputs, len(tail))
            tail = inputs[known:]
        if known < len(x_TE):
            q, k, v = self._heads(short_conv.two_sided(mixed_TC[known:], tail, self.taps_CK, self.right_CK))
            outputs.append(self._look_around(q, k, v, b_TH[known:], delta_HKV).to(v.dtype))
        found_THV = torch.cat(outputs) if len(outputs) > 1 else outputs[0]
        z_THV = self.z(x_TE).unflatten(-1, (self.value_heads, -1))
        return self.output(self.norm(found_THV, z_THV).flatten(1)), after

    def _heads(self, mixed_TC: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        keys = self.key_heads * self.key_size
        q, k, v = mixed_TC.split((keys, keys, mixed_TC.shape[1] - 2 * keys), dim=-1)
        heads = (self.key_heads, self.key_heads, self.value_heads)
        q, k, v = (x.unflatten(-1, (count, -1)) for x, count in zip((q, k, v), heads))
        return q, k, v

    def _look_around(
        self, q_TGK: torch.Tensor, k_TGK: torch.Tensor, v_THV: torch.Tensor, b_TH: torch.Tensor, state: torch.Tensor
    ) -> torch.Tensor:
        history_THV = read(q_TGK[None], state[None])[0]
        ratio = self.value_heads // self.key_heads
        q, k = (l2_normalise(x).repeat_interleave(ratio, dim=1) for x in (q_TGK, k_TGK))
        values = v_THV.float() * b_TH.float().sigmoid()[..., None] if self.scale_values else v_THV.float()
        return self.block(q, k, values, history_THV)


@dataclass
class _Prefixes:
    """States after the first n rows of a pass; all but the last are computed when asked for."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    g: torch.Tensor
    beta: torch.Tensor
    before: torch.Tensor
    last: torch.Tensor
    inputs: torch.Tensor
    tail: int

    def __call__(self, n: int) -> Parts:
        # A copy: a view would keep the inputs of the whole pass alive.
        tail = self.inputs[n : n + self.tail].clone()
        if n == len(self.v):
            return self.last, tail
        if n == 0:
            return self.before, tail
        q, k, v, g, beta = (x[:n] for x in (self.q, self.k, self.v, self.g, self.beta))
        return _one(q, k, v, g, beta, self.before)[1], tail


def _one(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor, state: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """`delta_rule` without the batch axis."""
    found, after = delta_rule(*(x[None] for x in (q, k, v, g, beta, state)))
    return found[0], after[0]

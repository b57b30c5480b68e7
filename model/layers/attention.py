"""Gated grouped-query attention of the Qwen3.5 family: normed heads, partial rotary, an output gate.

Grouped keys: arXiv 2305.13245; the gate: arXiv 2505.06708. Shape letters: T rows, P columns (tokens read before, then
the rows), E width, H query heads, K key heads, D head size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from model.layers.linear import Linear
from model.layers.norm import ZeroCentredNorm
from model.layers.rotary import rotate


@dataclass
class GatedAttention:
    """`q` is twice as wide as its heads: each head's query is followed by its gate."""

    q: Linear
    k: Linear
    v: Linear
    output: Linear
    q_norm: ZeroCentredNorm
    k_norm: ZeroCentredNorm
    heads: int
    kv_heads: int

    def project(
        self, x_TE: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Turned queries and raw gates [T, H, D], turned keys and values [T, K, D]."""
        q_THD, gate_THD = self.q(x_TE).unflatten(-1, (self.heads, -1)).chunk(2, dim=-1)
        k_TKD = self.k(x_TE).unflatten(-1, (self.kv_heads, -1))
        v_TKD = self.v(x_TE).unflatten(-1, (self.kv_heads, -1))
        return rotate(self.q_norm(q_THD), turns), gate_THD, rotate(self.k_norm(k_TKD), turns), v_TKD

    def attend(
        self,
        q_THD: torch.Tensor,
        gate_THD: torch.Tensor,
        keys_KPD: torch.Tensor,
        values_KPD: torch.Tensor,
        mask_TP: torch.Tensor | None,
    ) -> torch.Tensor:
        """Rows [T, E]. The mask is True where a row may look; None lets every row look everywhere."""
        found_HTD = F.scaled_dot_product_attention(
            q_THD.transpose(0, 1)[None], keys_KPD[None], values_KPD[None], attn_mask=mask_TP, enable_gqa=True
        )[0]
        return self.output((found_HTD.transpose(0, 1) * gate_THD.sigmoid()).flatten(1))


def rows_mask(known: int, rows: int, past: int, window: int | None, device: torch.device) -> torch.Tensor | None:
    """Who may look where, [rows, past + rows]: the first `known` rows are causal, the rest is one block that sees all
    of itself. With a `window`, no row looks further back than that many positions. None where nothing is hidden."""
    if rows == 1 and (window is None or past < window):
        return None
    keys = torch.arange(past + rows, device=device)
    own = torch.arange(past, past + rows, device=device)[:, None]
    mask = (keys <= own) | (own >= past + known)
    return mask if window is None else mask & (keys > own - window)

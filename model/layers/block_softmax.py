"""Clover's block operator: rows of a block look at each other and, through one extra softmax entry, at the history.

Reconstructed from the names and shapes of the released parameters and from public kernels; the value mix is not
confirmed by its authors. Shape letters: T rows of the block, H heads, K key size, V value size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

FULL_BLOCK = 32  # the block size at which `slope` has no say


@dataclass(frozen=True)
class BlockSoftmax:
    """Per head: `scale_H` of the block's q·k logits, `bias_H` and `slope_H` of the history's logit."""

    scale_H: torch.Tensor
    bias_H: torch.Tensor
    slope_H: torch.Tensor

    @classmethod
    def untrained(cls, heads: int, device: torch.device) -> BlockSoftmax:
        """For checkpoints without the parameters: cosine logits, and a history that keeps its share at any size."""
        one = torch.ones(heads, device=device)
        return cls(one, torch.zeros_like(one), one)

    def history_logit_H(self, rows: int) -> torch.Tensor:
        """bias + slope · ln(rows / 32)."""
        return self.bias_H + self.slope_H * math.log(rows / FULL_BLOCK)

    def __call__(
        self, q_THK: torch.Tensor, k_THK: torch.Tensor, v_THV: torch.Tensor, history_THV: torch.Tensor
    ) -> torch.Tensor:
        """One softmax over the history and all rows, in both directions; q and k L2-normalised. [T, H, V] in fp32.

        l_hist = bias + slope · ln(T/32)     l_i = scale · (q_t · k_i)
        o_t = p_hist · history_t + Σ_i p_i v_i
        """
        rows = len(q_THK)
        logits_HTT = torch.einsum("thk,shk->hts", q_THK, k_THK) * self.scale_H[:, None, None]
        history_HT1 = self.history_logit_H(rows)[:, None, None].expand(-1, rows, 1)
        p_HTS = torch.cat([history_HT1, logits_HTT], dim=-1).softmax(-1)
        mixed_THV = torch.einsum("hts,shv->thv", p_HTS[..., 1:], v_THV)
        return mixed_THV + p_HTS[..., 0].T[..., None] * history_THV

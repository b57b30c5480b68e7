"""A low-rank addition to a frozen projection (LoRA, https://arxiv.org/abs/2106.09685)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class LowRank(nn.Module):
    """x [..., inputs] -> b(a(x)) [..., outputs]; zero until trained."""

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(rank, inputs) / inputs**0.5)
        self.b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(F.linear(x, self.a), self.b)

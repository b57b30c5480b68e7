"""Projections y = x Wᵀ (+ b) in several precisions behind one call."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F


class Linear(Protocol):
    """Rows in, rows out: [..., inputs] -> [..., outputs]. No row's result depends on the other rows."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor: ...


class FloatLinear:
    """Weights as they are. `weight` [outputs, inputs], `bias` [outputs] or None."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)

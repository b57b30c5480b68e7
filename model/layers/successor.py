"""A small recurrent head that goes on from a row of the trunk: once the row's token is chosen, what comes after it?

Heads on the trunk's features as drafters: Medusa (https://arxiv.org/abs/2401.10774); each hears the token before it, as
in Hydra (https://arxiv.org/abs/2402.05109). Shape letters: E width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from model.layers.linear import FloatLinear, Int8Linear, Linear


class Successor(nn.Module):
    """(hidden [..., E], embedding of the token that was chosen there [..., E]) -> hidden [..., E] of the next place,
    normed as the trunk's rows are."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.into = nn.Linear(2 * width, inner)
        self.out = nn.Linear(inner, width, bias=False)
        self.scale = nn.Parameter(torch.ones(width))
        nn.init.zeros_(self.out.weight)  # untrained, it knows nothing and says so

    @property
    def trained(self) -> bool:
        return bool(self.out.weight.any())

    def forward(self, hidden: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        return FrozenSuccessor(self.into, self.out, self.scale)(hidden, chosen)

    def frozen(self, *, int8: bool) -> FrozenSuccessor:
        """For use, in fp32 or with int8 projections."""
        kind = _int8 if int8 else FloatLinear
        weight, bias = self.into.weight.detach(), self.into.bias.detach()
        return FrozenSuccessor(kind(weight, bias), kind(self.out.weight.detach(), None), self.scale.detach())


@dataclass(frozen=True)
class FrozenSuccessor:
    """A successor's step, whatever its projections are made of."""

    into: Linear
    out: Linear
    scale: torch.Tensor

    def __call__(self, hidden: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        both = torch.cat([F.rms_norm(hidden, hidden.shape[-1:]), F.rms_norm(chosen, chosen.shape[-1:])], -1)
        inner = self.out(F.silu(self.into(both.view(-1, both.shape[-1])))).view_as(hidden)
        return F.rms_norm(inner, inner.shape[-1:], eps=1e-5) * self.scale


def _int8(weight: torch.Tensor, bias: torch.Tensor | None) -> Int8Linear:
    return Int8Linear.of(weight, bias, weight.new_ones(weight.shape[1]))

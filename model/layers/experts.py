"""Mixture of experts with a shared expert, as in Qwen2-MoE and its successors.

Experts live in a bank that hands out one expert's matrices at a time, so that they can stay in a memory-mapped file
until a token is routed to them. Shape letters: T rows, E width, X experts, N experts of one token, I inner size of an
expert.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F

from model.layers.linear import Linear


class ExpertBank(Protocol):
    """Matrices by expert, in the dtype asked for."""

    def gate_up(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        """[2·I, E]: the gate's rows, then the up projection's."""
        ...

    def down(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        """[E, I]"""
        ...


@dataclass
class FeedForward:
    """down(silu(gate(x)) · up(x))."""

    gate: Linear
    up: Linear
    down: Linear

    def __call__(self, x_TE: torch.Tensor, known: int) -> torch.Tensor:
        """[T, E] -> [T, E]. Rows do not differ by what they are; `known` is there for the MoE."""
        return self.down(F.silu(self.gate(x_TE)) * self.up(x_TE))


@dataclass
class SparseExperts:
    """`router_XE` scores experts; `coreset` bounds the experts that all rows of a block may use together."""

    router_XE: torch.Tensor
    bank: ExpertBank
    shared: FeedForward
    shared_gate: Linear
    per_token: int
    renormalise: bool
    coreset: int

    def __call__(self, x_TE: torch.Tensor, known: int) -> torch.Tensor:
        """[T, E] -> [T, E]; rows from `known` on are one block."""
        weights_TN, experts_TN = self.route(x_TE, known)
        out_TE = torch.zeros_like(x_TE)
        # In ascending order of experts, so that a row's sum does not depend on its neighbours.
        for expert in experts_TN.unique().tolist():
            rows, slots = (experts_TN == expert).nonzero(as_tuple=True)
            gate, up = F.linear(x_TE[rows], self.bank.gate_up(expert, x_TE.dtype)).chunk(2, dim=-1)
            found = F.linear(F.silu(gate) * up, self.bank.down(expert, x_TE.dtype))
            out_TE.index_add_(0, rows, found * weights_TN[rows, slots, None])
        return out_TE + self.shared_gate(x_TE).sigmoid() * self.shared(x_TE, known)

    def route(self, x_TE: torch.Tensor, known: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights and numbers of each row's experts, [T, N].

        A block first agrees on its coreset: the experts with the highest probability that any of its rows gives them
        (LLaDA2.2's block routing); each row then takes its best among these."""
        p_TX = F.linear(x_TE, self.router_XE).float().softmax(-1)
        if known < len(x_TE) and self.coreset < p_TX.shape[1]:
            kept = p_TX[known:].amax(0).topk(self.coreset).indices
            closed_X = torch.ones_like(p_TX[0], dtype=torch.bool).index_fill_(0, kept, False)
            p_TX = torch.cat([p_TX[:known], p_TX[known:].masked_fill(closed_X, 0)])
        weights_TN, experts_TN = p_TX.topk(self.per_token, dim=-1)
        if self.renormalise:
            weights_TN = weights_TN / weights_TN.sum(-1, keepdim=True)
        return weights_TN.to(x_TE.dtype), experts_TN

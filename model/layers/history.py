"""The history slot: one extra softmax entry through which a block row reads a gated-delta memory of all that was read.

The idea of the slot and of its block-size calibration is Clover's (`clover.py`); here keys and values come from the
trunk's attention through small learned projections. Shape letters: N blocks, B rows, T tokens, K key heads of the
trunk, H memory heads (the trunk's query heads), D head size.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from model.layers.gated_delta import chunk_states

FULL_BLOCK = 32  # the block size at which `slope` has no say
SLOWEST, FASTEST = 1e-4, 3e-2  # spread of the heads' initial forgetting per token


class HistorySlot(nn.Module):
    """Writes committed keys and values into a state [H, D, D]; reads it for the rows of a block."""

    def __init__(self, heads: int, kv_heads: int, size: int) -> None:
        super().__init__()
        self.heads, self.size = heads, size
        inner = kv_heads * size
        self.key = nn.Linear(inner, heads * size, bias=False)
        self.value = nn.Linear(inner, heads * size, bias=False)
        self.gates = nn.Linear(2 * inner, 2 * heads)
        self.query = nn.Parameter(torch.eye(size).repeat(heads, 1, 1))
        self.output = nn.Parameter(torch.ones(heads, size))
        self.bias = nn.Parameter(torch.full((heads,), -4.0))
        self.slope = nn.Parameter(torch.ones(heads))
        nn.init.zeros_(self.gates.weight)
        forgetting = torch.logspace(math.log10(SLOWEST), math.log10(FASTEST), heads)
        with torch.no_grad():
            self.gates.bias[:heads] = torch.log(torch.expm1(forgetting))
            self.gates.bias[heads:] = 0.0

    def empty(self) -> torch.Tensor:
        return self.bias.new_zeros(self.heads, self.size, self.size)

    def write(
        self, keys_TKD: torch.Tensor, values_TKD: torch.Tensor, state_HDD: torch.Tensor, size: int
    ) -> torch.Tensor:
        """States [1 + T/size, H, D, D] before the first and after every `size` tokens; T is a multiple of `size`."""
        keys, values = keys_TKD.flatten(1), values_TKD.flatten(1)
        k_THD = self.key(keys).unflatten(1, (self.heads, -1))
        v_THD = self.value(values).unflatten(1, (self.heads, -1))
        forget_TH, accept_TH = self.gates(torch.cat([keys, values], 1)).chunk(2, dim=1)
        log_decay_TH, beta_TH = -F.softplus(forget_TH), torch.sigmoid(accept_TH)
        batch = (x[None] for x in (k_THD, k_THD, v_THD, log_decay_TH, beta_TH, state_HDD))
        return chunk_states(*batch, chunk_size=size)[1][0]

    def read(self, q_NBHD: torch.Tensor, state_NHDD: torch.Tensor) -> torch.Tensor:
        """What each row remembers [N, B, H, D], from its query before rotary."""
        q_NBHD = F.normalize(torch.einsum("nbhd,hde->nbhe", q_NBHD, self.query), dim=-1)
        read = torch.einsum("nbhd,nhde->nbhe", q_NBHD, state_NHDD)
        return F.rms_norm(read, read.shape[-1:], eps=1e-4) * self.output

    def logit_H(self, rows: int) -> torch.Tensor:
        """The slot's softmax logit for a block of `rows` rows."""
        return self.bias + self.slope * math.log(rows / FULL_BLOCK)

"""The short depthwise convolution in front of a GDN layer: causal in a commit, two-sided over the block in a preview.

Shape letters: T rows, C channels, K taps (4 in the published models). The tail holds the K − 1 inputs before the first
row.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F


def causal(x_TC: torch.Tensor, tail_KC: torch.Tensor, taps_CK: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """silu(Σ_j [tail|x][t + j] · taps[j]). Returns the rows [T, C] and [tail|x] whole, [K − 1 + T, C]: the tail after
    the n-th row are its rows n … n + K − 2."""
    inputs = torch.cat([tail_KC, x_TC])
    return F.silu(_correlate(inputs, taps_CK, len(x_TC))), inputs


def two_sided(x_TC: torch.Tensor, tail_KC: torch.Tensor, taps_CK: torch.Tensor, right_CK: torch.Tensor) -> torch.Tensor:
    """The causal sum plus Σ_{d ≥ 1} x[t + d] · right[d − 1] inside the block, then silu. The tail is only read.

    As in Clover's preview; `right` has K − 1 taps."""
    rows = len(x_TC)
    left = _correlate(torch.cat([tail_KC, x_TC]), taps_CK, rows)
    ahead = F.pad(x_TC[1:], (0, 0, 0, right_CK.shape[1]))
    return F.silu(left + _correlate(ahead, right_CK, rows))


def _correlate(inputs: torch.Tensor, taps_CK: torch.Tensor, rows: int) -> torch.Tensor:
    out = inputs[:rows] * taps_CK[:, 0]
    for j in range(1, taps_CK.shape[1]):
        out = torch.addcmul(out, inputs[j : j + rows], taps_CK[:, j])
    return out

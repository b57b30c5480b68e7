"""Causal attention over a preallocated store of keys, whose rows do not depend on the width of the pass.

Measured with MKL: products over up to 384 terms, and the softmax, come out the same to the bit whatever shares the
call; longer sums are split where their length says so. So keys are read in multiples of 64, which leaves masked columns
at the end, and values are summed 256 at a time.
torch's own attention differs in the last bits between widths, which int8 rounding behind it makes visible.

Shape letters: T rows of the pass, R rows of a slice of it, P keys in all, H query heads, K key heads, G = H/K, D head
size, C capacity of the store.
"""

from __future__ import annotations

from typing import Protocol

import torch

STEP = 64  # key columns are read in multiples of this; a store's capacity is one
_SUM = 256
_ROWS = 128  # rows whose scores exist at one time


class Mask(Protocol):
    """The rows of a pass in slices: which rows, how many key columns they read, and what is added to their scores
    [R, 1, P]: 0 where a row may look, −∞ elsewhere."""

    slices: list[tuple[slice, int, torch.Tensor]]


class CausalMask:
    """Which keys each of `count` rows behind `past` keys may see; made once for all layers."""

    def __init__(self, past: int, count: int, like: torch.Tensor) -> None:
        self.slices: list[tuple[slice, int, torch.Tensor]] = []
        for low in range(0, count, _ROWS):
            high = min(low + _ROWS, count)
            end = -(-(past + high) // STEP) * STEP
            bias_RP = like.new_full((high - low, end), float("-inf")).triu_(past + low + 1)
            self.slices.append((slice(low, high), end, bias_RP[:, None]))


def attend(q_THD: torch.Tensor, keys_KCD: torch.Tensor, values_KCD: torch.Tensor, mask: Mask) -> torch.Tensor:
    """What each row finds among the keys that it may see [T, H·D]. The keys of the rows themselves are in the store."""
    found = [_slice(q_THD[rows], keys_KCD[:, :end], values_KCD[:, :end], bias) for rows, end, bias in mask.slices]
    return found[0] if len(found) == 1 else torch.cat(found)


def _slice(
    q_RHD: torch.Tensor, keys_KPD: torch.Tensor, values_KPD: torch.Tensor, bias_R1P: torch.Tensor
) -> torch.Tensor:
    count, heads, size = q_RHD.shape
    groups, end = keys_KPD.shape[:2]
    q_KMD = (q_RHD * size**-0.5).view(count, groups, -1, size).transpose(0, 1).reshape(groups, -1, size)
    scores_KRGP = torch.bmm(q_KMD, keys_KPD.mT).view(groups, count, -1, end)
    weights_KMP = scores_KRGP.add_(bias_R1P).softmax(-1).view(groups, -1, end)
    if end <= _SUM:
        found_KMD = torch.bmm(weights_KMP, values_KPD)
    else:
        found_KMD = torch.bmm(weights_KMP[:, :, :_SUM], values_KPD[:, :_SUM])
        for low in range(_SUM, end, _SUM):
            found_KMD.baddbmm_(weights_KMP[:, :, low : low + _SUM], values_KPD[:, low : low + _SUM])
    return found_KMD.view(groups, count, -1, size).transpose(0, 1).reshape(count, heads * size)

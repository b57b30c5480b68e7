"""Causal attention over a preallocated store of keys, whose rows do not depend on the width of the pass.

The rows of one block of STEP positions read the keys up to that block's end, whatever shares the pass with them: so a
row's products always have the same terms, the masked ones at the end among them, and are made as `exact_products` says.
torch's own attention differs in the last bits between widths, which int8 rounding behind it makes visible.

Shape letters: T rows of the pass, R rows of a slice of it, P keys in all, W of them masked in part, H query heads,
K key heads, G = H/K, M = R·G and what fills them up, D head size, C capacity of the store.
"""

from __future__ import annotations

from typing import Protocol

import torch

from model.layers.exact_products import STEP, padded, terms_at_once


class Mask(Protocol):
    """The rows of a pass in slices: which rows, how many key columns they read, and what is added to their scores of
    the last columns [R, 1, W]: 0 where a row may look, −∞ elsewhere."""

    slices: list[tuple[slice, int, torch.Tensor]]


class CausalMask:
    """Which keys each of `count` rows behind `past` keys may see; made once for all layers."""

    def __init__(self, past: int, count: int, like: torch.Tensor) -> None:
        self.slices: list[tuple[slice, int, torch.Tensor]] = []
        low = 0
        while low < count:
            start = (past + low) // STEP * STEP
            high = min(start + STEP - past, count)
            bias_RW = like.new_full((high - low, STEP), float("-inf")).triu_(past + low + 1 - start)
            self.slices.append((slice(low, high), start + STEP, bias_RW[:, None]))
            low = high


def attend(q_THD: torch.Tensor, keys_KCD: torch.Tensor, values_KCD: torch.Tensor, mask: Mask) -> torch.Tensor:
    """What each row finds among the keys that it may see [T, H·D]. The keys of the rows themselves are in the store."""
    found = [_slice(q_THD[rows], keys_KCD[:, :end], values_KCD[:, :end], bias) for rows, end, bias in mask.slices]
    return found[0] if len(found) == 1 else torch.cat(found)


def _slice(
    q_RHD: torch.Tensor, keys_KPD: torch.Tensor, values_KPD: torch.Tensor, bias_R1W: torch.Tensor
) -> torch.Tensor:
    count, heads, size = q_RHD.shape
    groups, end = keys_KPD.shape[:2]
    q_KMD = (q_RHD * size**-0.5).view(count, groups, -1, size).transpose(0, 1).reshape(groups, -1, size)
    rows = q_KMD.shape[1]
    scores_KMP = torch.bmm(padded(q_KMD), keys_KPD.mT)
    scores_KMP[:, :rows, -bias_R1W.shape[-1] :].unflatten(1, (count, -1)).add_(bias_R1W)
    weights_KMP = scores_KMP.softmax(-1)
    some = terms_at_once()
    found_KMD = torch.bmm(weights_KMP[:, :, :some], values_KPD[:, :some])
    for low in range(some, end, some):
        found_KMD.baddbmm_(weights_KMP[:, :, low : low + some], values_KPD[:, low : low + some])
    found_KRGD = found_KMD[:, :rows].unflatten(1, (count, -1))
    return found_KRGD.transpose(0, 1).reshape(count, heads * size)

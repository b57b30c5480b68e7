"""How to multiply matrices so that a row's result is the same to the bit whatever shares the call, on this machine.

Libraries sum the terms of a row in another order where few rows share the call, in the rows that are left over from a
tile, or where more terms follow, be they zeros. What is safe depends on library and processor (MKL on Intel: any number
of rows and 384 terms; on AMD: four rows and more, 128 terms), so it is measured, once, in some milliseconds.
"""

from __future__ import annotations

from functools import cache

import torch

STEP = 64  # sums are of multiples of so many terms
MULTIPLES = (1, 4, 8, 16, 32)
TERMS = (256, 128, 64)
# Rows that are compared; sizes of the products that attention makes (terms, columns).
_MOST = 48
_SIZES = ((64, 192), (16, 192), (128, 64), (64, 64), (64, 16))


@cache
def row_multiple() -> int:
    """The least of MULTIPLES whose multiples are safe numbers of rows; the largest where none is."""
    return next((multiple for multiple in MULTIPLES if _rows_are_safe(multiple)), MULTIPLES[-1])


@cache
def terms_at_once() -> int:
    """The most of TERMS that can be summed at once although zeros may stand at their end; the least where none can."""
    return next((terms for terms in TERMS if _zeros_are_safe(terms)), TERMS[-1])


def padded(x_BMD: torch.Tensor) -> torch.Tensor:
    """With rows of zeros behind, up to the next safe number of rows."""
    missing = -x_BMD.shape[1] % row_multiple()
    return torch.nn.functional.pad(x_BMD, (0, 0, 0, missing)) if missing else x_BMD


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(2, *shape, generator=torch.Generator().manual_seed(sum(shape)))


def _rows_are_safe(multiple: int) -> bool:
    for terms, columns in _SIZES:
        rows, other = _random(2 * _MOST, terms), _random(columns, terms)
        for right in (other.mT, other.mT.contiguous()):
            whole = torch.bmm(rows, right)
            for count in range(multiple, _MOST + 1, multiple):
                if not torch.equal(torch.bmm(rows[:, :count].contiguous(), right), whole[:, :count]):
                    return False
    return True


def _zeros_are_safe(terms: int) -> bool:
    rows, values = padded(_random(3, 2 * terms)), _random(2 * terms, STEP)
    begun = torch.bmm(rows[:, :, terms:], values[:, terms:])
    for real in range(terms // 2 - 1, terms, STEP // 2):
        cut = rows.clone()
        cut[:, :, real:] = 0
        ends = range(-(-real // STEP) * STEP, terms + 1, STEP)
        alone = [torch.bmm(cut[:, :, :end], values[:, :end]) for end in ends]
        added = [torch.baddbmm(begun, cut[:, :, :end], values[:, :end]) for end in ends]
        if not all(torch.equal(found[0], other) for found in (alone, added) for other in found):
            return False
    return True

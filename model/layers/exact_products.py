"""How to multiply matrices so that a row's result is the same to the bit whatever shares the call, on this machine.

Libraries sum the terms of a row in another order where few rows share the call, or in the rows that are left over from
a tile. What is safe depends on library and processor (MKL on Intel: any number of rows; on AMD: four and more), so it
is measured, once, in some milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import torch

STEP = 64  # sums are of multiples of so many terms
MULTIPLES = (1, 4, 8, 16, 32)
TERMS = (1024, 512, 256, 128, 64)
# Rows that are compared; sizes of the products that attention makes (terms, columns).
_ROWS = (*range(1, 49), 64, 96, 128)
_WHOLE = 192
_SIZES = ((64, 192), (64, 1088), (16, 192), (128, 64), (64, 64), (64, 16))


@cache
def row_multiple() -> int:
    """The least of MULTIPLES whose multiples are safe numbers of rows; the largest where none is."""
    return next((multiple for multiple in MULTIPLES if _are_alike(multiple, _SIZES)), MULTIPLES[-1])


@cache
def terms_at_once() -> int:
    """The most of TERMS whose sums are safe with such numbers of rows; the least where none is."""
    some = row_multiple()
    return next((terms for terms in TERMS if _are_alike(some, ((terms, STEP), (terms - STEP, STEP)))), TERMS[-1])


def padded(x_BMD: torch.Tensor) -> torch.Tensor:
    """With rows of zeros behind, up to the next safe number of rows."""
    missing = -x_BMD.shape[1] % row_multiple()
    return torch.nn.functional.pad(x_BMD, (0, 0, 0, missing)) if missing else x_BMD


def _are_alike(multiple: int, sizes: Iterable[tuple[int, int]]) -> bool:
    """Whether rows come out alike whichever multiple of so many shares the product."""
    for terms, columns in sizes:
        rows, other = _random(_WHOLE, terms), _random(columns, terms)
        for right in (other.mT, other.mT.contiguous()):
            whole = torch.bmm(rows, right)
            for count in (count for count in _ROWS if count % multiple == 0):
                if not torch.equal(torch.bmm(rows[:, :count].contiguous(), right), whole[:, :count]):
                    return False
    return True


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(2, *shape, generator=torch.Generator().manual_seed(sum(shape)))

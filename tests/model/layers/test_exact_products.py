from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from model.layers import exact_products
from model.layers.exact_products import MULTIPLES, TERMS, padded, row_multiple, terms_at_once

plain = torch.bmm


def four_rows_and_more(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """A library that sums few rows in another order."""
    return plain(one, other) + (1e-3 if one.shape[1] < 4 else 0.0)


def tiles_of_eight(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    found = plain(padding(one), padding(other.mT).mT)[:, : one.shape[1], : other.shape[2]].clone()
    found[:, one.shape[1] // 8 * 8 :] += 1e-3
    return found


def long_sums_of_few_rows(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """A library that splits sums of more than 192 terms where few rows share the call."""
    return plain(one, other) + (1e-3 if one.shape[2] > 192 and one.shape[1] < 32 else 0.0)


def padding(x_BMD: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(x_BMD, (0, 0, 0, -x_BMD.shape[1] % 32))


@pytest.mark.parametrize(("library", "multiple"), [(four_rows_and_more, 4), (tiles_of_eight, 8)])
def test_rows_come_in_numbers_that_the_library_treats_alike(
    library: Callable[..., torch.Tensor], multiple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = row_multiple()
    monkeypatch.setattr(torch, "bmm", library)
    assert exact_products.row_multiple.__wrapped__() == max(multiple, real)


def test_sums_are_no_longer_than_come_out_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    row_multiple()
    monkeypatch.setattr(torch, "bmm", long_sums_of_few_rows)
    assert exact_products.terms_at_once.__wrapped__() == min(128, terms_at_once())


def test_what_this_machine_needs_is_among_the_choices_and_rows_are_filled_up_with_zeros() -> None:
    assert row_multiple() in MULTIPLES and terms_at_once() in TERMS
    x_BMD = torch.ones(2, 3, 5)
    assert torch.equal(padded(x_BMD)[:, :3], x_BMD)
    assert padded(x_BMD).shape[1] % row_multiple() == 0 and not padded(x_BMD)[:, 3:].any()

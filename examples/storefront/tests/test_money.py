from decimal import Decimal

import pytest

from storefront import money


def test_to_cents():
    assert money.to_cents("12.30") == 1230
    assert money.to_cents("-0.05") == -5


def test_no_fractions_of_a_cent():
    with pytest.raises(ValueError, match="fraction"):
        money.to_cents("1.005")


def test_truncate():
    assert money.truncate(Decimal("150.99")) == 150


@pytest.mark.parametrize("amount, cents", [("150.5", 150), ("151.5", 152), ("150.51", 151)])
def test_round_half_even(amount, cents):
    assert money.round_half_even(Decimal(amount)) == cents


@pytest.mark.parametrize("cents, text", [(0, "0.00 EUR"), (1205, "12.05 EUR"), (-7, "-0.07 EUR")])
def test_format(cents, text):
    assert money.format_cents(cents) == text

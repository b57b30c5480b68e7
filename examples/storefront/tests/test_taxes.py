import pytest

from storefront import taxes


@pytest.mark.parametrize(
    "cents, category, expected",
    [(1000, "general", 190), (795, "general", 151), (2490, "books", 174), (310, "food", 22), (5000, "gift cards", 0)],
)
def test_tax_on_net(cents, category, expected):
    assert taxes.tax_on(cents, category) == expected


def test_tax_within_gross():
    assert taxes.tax_within(1190, "general") == 190
    assert taxes.tax_within(1070, "food") == 70
    assert taxes.tax_within(5000, "gift cards") == 0

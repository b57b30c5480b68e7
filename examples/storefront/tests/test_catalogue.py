import pytest

from storefront.catalogue import UnknownProduct


def test_find(catalogue):
    assert catalogue.find("mug").cents == 795
    assert len(catalogue) == 4


def test_unknown(catalogue):
    with pytest.raises(UnknownProduct):
        catalogue.find("cup")


def test_in_category(catalogue):
    catalogue.add("almanac", "Almanac", "9.00", "books")
    assert [product.sku for product in catalogue.in_category("books")] == ["almanac", "atlas"]

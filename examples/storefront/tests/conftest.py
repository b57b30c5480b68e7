import pytest

from storefront.cart import Cart
from storefront.catalogue import Catalogue


@pytest.fixture
def catalogue():
    catalogue = Catalogue()
    catalogue.add("mug", "Mug", "7.95")
    catalogue.add("atlas", "Atlas of Clouds", "24.90", "books")
    catalogue.add("tea", "Green tea", "3.10", "food")
    catalogue.add("card", "Gift card", "50.00", "gift cards")
    return catalogue


@pytest.fixture
def cart(catalogue):
    return Cart(catalogue)

import pytest

from storefront.catalogue import UnknownProduct
from storefront.discounts import Percent


def test_put_and_take(cart):
    cart.put("mug", 2)
    cart.put("mug")
    cart.take("mug", 2)
    assert cart.lines == {"mug": 1}
    cart.take("mug")
    assert cart.lines == {}


def test_put_checks(cart):
    with pytest.raises(ValueError):
        cart.put("mug", 0)
    with pytest.raises(UnknownProduct):
        cart.put("cup")
    with pytest.raises(ValueError):
        cart.take("mug")


def test_net(cart):
    cart.put("mug", 2)
    cart.put("tea")
    assert cart.net() == 1900


def test_total_has_tax(cart):
    cart.put("mug")
    cart.put("atlas")
    assert cart.total() == 795 + 2490 + 151 + 174


def test_total_with_offer(cart):
    cart.put("card")
    assert cart.total([Percent(20)]) == 4000


def test_invoice(cart):
    cart.put("mug", 2)
    assert cart.invoice().splitlines() == ["2 x Mug: 15.90 EUR", "tax: 3.02 EUR", "total: 18.92 EUR"]

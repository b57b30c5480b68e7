from storefront.discounts import Fixed, Percent, best


def test_percent_never_rounds_up():
    assert Percent(10).off(999) == 99


def test_percent_above():
    assert Percent(10, above=5000).off(4999) == 0
    assert Percent(10, above=5000).off(5000) == 500


def test_fixed_is_bounded_by_the_sum():
    assert Fixed(500).off(300) == 300


def test_best():
    assert best([Percent(10), Fixed(300)], 2000) == 300
    assert best([], 2000) == 0

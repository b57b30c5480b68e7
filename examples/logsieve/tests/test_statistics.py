import pytest

from logsieve.statistics import mean, percentile, share


def test_mean():
    assert mean([1, 2, 6]) == 3
    assert mean([]) is None


@pytest.mark.parametrize("percent, expected", [(0, 10), (50, 30), (75, 40), (90, 46), (100, 50)])
def test_percentile(percent, expected):
    assert percentile([50, 10, 40, 20, 30], percent) == pytest.approx(expected)


def test_percentile_of_one():
    assert percentile([7], 95) == 7


def test_percentile_of_nothing():
    assert percentile([], 95) is None


def test_share():
    assert share(1, 4) == 0.25
    assert share(0, 0) == 0

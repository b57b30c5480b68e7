from __future__ import annotations

import pytest
import torch

from model.window import Window


def _grow(window: Window, count: int, value: float) -> Window:
    grown = window.extend(count)
    grown.keys_LKTD[:, :, window.length :] = value
    grown.values_LKTD[:, :, window.length :] = -value
    return grown


def _content(window: Window) -> list[float]:
    keys, values = window.keys_LKTD, window.values_LKTD
    assert torch.equal(keys, -values)
    return keys[0, 0, :, 0].tolist()


@pytest.fixture
def base() -> Window:
    return _grow(Window.empty(2, 3, 4, torch.float32, torch.device("cpu")), 5, 1.0)


def test_a_fork_overwritten_by_its_sibling_keeps_its_own_tokens(base: Window) -> None:
    first = _grow(base, 2, 2.0)
    second = _grow(base, 3, 3.0)
    assert _content(first) == [1.0] * 5 + [2.0] * 2
    assert _content(second) == [1.0] * 5 + [3.0] * 3
    assert _content(_grow(first, 1, 4.0)) == [1.0] * 5 + [2.0] * 2 + [4.0]
    assert _content(second) == [1.0] * 5 + [3.0] * 3


def test_a_fork_overwritten_twice_at_falling_places_keeps_its_own_tokens(base: Window) -> None:
    long = _grow(_grow(base, 3, 2.0), 2, 3.0)
    _grow(long.prefix(8), 1, 9.0)
    kept = _grow(long.prefix(6), 1, 8.0)
    _grow(base, 4, 7.0)
    assert _content(long) == [1.0] * 5 + [2.0] * 3 + [3.0] * 2
    assert _content(kept) == [1.0] * 5 + [2.0] + [8.0]


def test_extending_shares_storage_and_rewinding_copies_nothing(base: Window) -> None:
    longer = _grow(base, 4, 2.0)
    assert longer.keys_LKTD.data_ptr() == base.keys_LKTD.data_ptr()
    shorter = longer.prefix(7)
    del longer
    again = _grow(shorter, 2, 3.0)
    assert again.keys_LKTD.data_ptr() == base.keys_LKTD.data_ptr()


def test_growth_beyond_the_storage_keeps_the_past(base: Window) -> None:
    capacity = base.storage()[0].shape[2]
    grown = _grow(base, capacity, 2.0)
    assert _content(grown) == [1.0] * 5 + [2.0] * capacity
    assert _content(base) == [1.0] * 5
    assert grown.storage()[0].shape[2] % 64 == 0


def test_no_prefix_longer_than_the_window(base: Window) -> None:
    with pytest.raises(ValueError, match="no prefix of 6"):
        base.prefix(6)

from __future__ import annotations

import threading

import pytest

from coder.ahead import Ahead


def test_a_load_is_made_once_and_before_it_is_asked_for() -> None:
    begun = threading.Event()
    loads: list[int] = []

    def load() -> str:
        loads.append(1)
        begun.set()
        return "model"

    ahead = Ahead(load)
    assert not loads
    ahead.start()
    assert begun.wait(10)
    ahead.start()
    assert [ahead(), ahead()] == ["model", "model"]
    assert len(loads) == 1


def test_without_a_start_it_loads_when_called_and_raises_what_went_wrong() -> None:
    def load() -> None:
        raise OSError("no such model")

    ahead = Ahead(load)
    for _ in range(2):
        with pytest.raises(OSError, match="no such model"):
            ahead()


def test_leaving_waits_for_what_has_begun() -> None:
    go, done = threading.Event(), threading.Event()

    def load() -> None:
        go.wait(10)
        done.set()

    with Ahead(load) as ahead:
        ahead.start()
        go.set()
    assert done.is_set()
    with Ahead(lambda: 1 / 0):
        pass  # never started, so nothing to wait for

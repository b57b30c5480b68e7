"""Work in the background that may wait."""

from __future__ import annotations

import threading
import time

import pytest

from lsp import soon
from lsp.soon import Soon


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(soon, "DELAY", 0.1)


def until(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_many_who_ask_are_served_at_once():
    done = []
    work = Soon(lambda: done.append(1), lambda: False, "test")
    for _ in range(20):
        work.ask()
    until(lambda: done)
    time.sleep(0.3)
    assert len(done) == 1
    work.ask()
    until(lambda: len(done) == 2)


def test_what_is_asked_for_meanwhile_is_done_once_more():
    done, begun, go_on = [], threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(10)
        done.append(1)

    work = Soon(slow, lambda: False, "test")
    work.ask()
    assert begun.wait(10)
    work.ask()
    work.ask()
    go_on.set()
    until(lambda: len(done) == 2)
    time.sleep(0.3)
    assert len(done) == 2


def test_it_waits_while_somebody_waits_for_the_model_and_an_error_ends_nothing():
    done, busy = [], threading.Event()
    busy.set()

    def broken():
        done.append(1)
        raise RuntimeError

    work = Soon(broken, busy.is_set, "test")
    work.ask()
    time.sleep(0.3)
    assert done == []
    busy.clear()
    until(lambda: len(done) == 1)
    work.ask()
    until(lambda: len(done) == 2)


def test_once_stopped_nothing_is_begun():
    done, busy = [], threading.Event()
    busy.set()
    work = Soon(lambda: done.append(1), busy.is_set, "test")
    work.ask()
    work.stop()
    busy.clear()
    work.ask()
    time.sleep(0.3)
    assert done == []

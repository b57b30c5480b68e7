from __future__ import annotations

import os
import threading

import pytest
import torch

from model import threads
from model.threads import Threads

TICKS = os.sysconf("SC_CLK_TCK")


class Machine:
    """A clock, what this process used, and /proc, on four cores."""

    def __init__(self, folder, monkeypatch) -> None:
        self.now = self.own = self.busy = 100.0
        self.proc = folder
        monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
        monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
        monkeypatch.setattr(threads.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(threads.time, "process_time", lambda: self.own)
        self.goes_on(0, 0, 0)

    def goes_on(self, seconds: float, own: float, others: float) -> None:
        self.now, self.own, self.busy = self.now + seconds, self.own + own, self.busy + own + others
        (self.proc / "stat").write_text(f"cpu  {round(self.busy * TICKS)} 0 0 {10**9} 12345 0 0 0 0 0\ncpu0 1 2 3\n")


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_what_this_process_uses_itself_is_not_taken_away_from_it(machine):
    found = Threads(machine.proc)
    machine.goes_on(1, own=4, others=0)
    assert found.free() == 4


@pytest.mark.parametrize(("others", "free"), [(0.4, 4), (0.6, 3), (2.1, 2), (4.0, 1), (9.0, 1)])
def test_cores_that_others_use_are_not_free(machine, others, free):
    found = Threads(machine.proc)
    machine.goes_on(2, own=1, others=2 * others)
    assert found.free() == free


def test_a_core_is_free_again_when_others_have_ended(machine):
    found = Threads(machine.proc)
    machine.goes_on(1, own=0, others=3)
    assert found.free() == 1
    machine.goes_on(1, own=1, others=0)
    assert found.free() == 4


def test_less_than_ten_ticks_are_no_ground_for_a_change(machine):
    found = Threads(machine.proc)
    machine.goes_on(threads.LEAST / 2, own=0, others=4)
    assert found.free() == 4


def test_cores_that_this_process_may_not_use_are_for_the_others(machine, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 16)
    found = Threads(machine.proc)
    machine.goes_on(1, own=0, others=12)
    assert found.free() == 4
    machine.goes_on(1, own=0, others=14)
    assert found.free() == 2


@pytest.mark.parametrize("text", ["", "cpu 1 2", "cpu a b c d e f g h"])
def test_where_the_kernel_does_not_say_all_cores_are_free(machine, text):
    (machine.proc / "stat").write_text(text)
    assert Threads(machine.proc).free() == 4
    assert Threads(machine.proc / "none").free() == 4


def test_a_core_that_another_thread_of_this_process_uses_is_not_free(machine):
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        task = machine.proc / "self" / "task" / str(thread.native_id)
        task.mkdir(parents=True)
        (task / "stat").write_text("7 (a ) name) S 1 1 1 0 -1 0 0 0 0 0 0 0 20 0")
        found = Threads(machine.proc)
        (task / "stat").write_text(f"7 (a ) name) S 1 1 1 0 -1 0 0 0 0 0 {2 * TICKS} {TICKS} 20 0")
        machine.goes_on(1, own=4, others=0)
        assert found.free() == 1
    finally:
        ended.set()
        thread.join()


def test_what_an_ended_thread_had_used_leaves_all_cores_free(machine):
    assert Threads(machine.proc)._used_by(threading.Thread()) == 0


@pytest.mark.parametrize(("had", "others", "gets"), [(4, 2, 2), (4, 0, 4), (1, 0, 1), (2, 1, 2)])
def test_torch_gets_as_many_threads_as_there_are_cores_free_and_never_more_than_it_had(machine, had, others, gets):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(had)
        found = Threads(machine.proc)
        machine.goes_on(1, own=0, others=others)
        found.fit()
        assert torch.get_num_threads() == gets
    finally:
        torch.set_num_threads(before)

"""How many threads torch should have: no more than others leave cores free.

A pass is cut into equal parts for its threads, and is done when the last one is: on two cores of which others use one,
two threads take longer than one, and on two busy ones several times as long. What int8 computes does not depend on
their number.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import torch

_PROC = Path("/proc")
_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal: man 5 proc
_OF_A_THREAD = (11, 12)  # user and system, counted from behind its name
_TICKS = os.sysconf("SC_CLK_TCK")
LEAST = 0.1  # seconds that are looked back on at least: ten of the kernel's ticks


class Threads:
    """Looks at what others used of the processor since it last looked: other processes, and this one's own Python
    threads but for the one that asks."""

    def __init__(self, proc: Path = _PROC) -> None:
        self._proc = proc
        self._most = torch.get_num_threads()
        self._free = self._cores = len(os.sched_getaffinity(0))
        self._seen = self._used()

    def free(self) -> int:
        """The cores that others left free since the last look, at least one; all where that cannot be known."""
        used, seen = self._used(), self._seen
        if used is None or seen is None:
            return self._cores
        now, before = used[0], seen[0]
        if now - before >= LEAST:
            others = max(used[1] - seen[1], 0.0) / (now - before)
            elsewhere = (os.cpu_count() or self._cores) - self._cores  # cores that others may use and this may not
            self._free = max(1, self._cores - round(max(others - elsewhere, 0.0)))
            self._seen = used
        return self._free

    def fit(self) -> None:
        """Gives torch so many threads, and no more than it had at first, in the thread that asks."""
        torch.set_num_threads(min(self.free(), self._most))

    def _used(self) -> tuple[float, float] | None:
        """The time, and the seconds of all cores that others had until then; None where the kernel does not say."""
        now, own = time.monotonic(), time.process_time()
        try:
            ticks = (self._proc / "stat").read_text().split("\n", 1)[0].split()[1:]
            busy = sum(int(ticks[number]) for number in _BUSY) / _TICKS
        except (OSError, ValueError, IndexError):
            return None
        return now, busy - own + sum(map(self._used_by, threading.enumerate()))

    def _used_by(self, thread: threading.Thread) -> float:
        """Seconds that another Python thread of this process used; 0 of the one that asks, and of one that is gone."""
        if thread is threading.current_thread():
            return 0.0
        try:
            text = (self._proc / "self" / "task" / str(thread.native_id) / "stat").read_text()
            fields = text.rpartition(")")[2].split()
            return sum(int(fields[number]) for number in _OF_A_THREAD) / _TICKS
        except (OSError, ValueError, IndexError):
            return 0.0

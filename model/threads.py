"""How many threads torch should have: no more than others leave cores free.

A pass is cut into equal parts for its threads, and is done when the last one is: on two cores of which others use one,
two threads take longer than one, and on two busy ones several times as long. What int8 computes does not depend on
their number.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch

_STAT = Path("/proc/stat")
_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal: man 5 proc
LEAST = 0.1  # seconds that are looked back on at least: ten of the kernel's ticks


class Threads:
    """Looks at what this process and the others used of the processor since it last looked."""

    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self._most = torch.get_num_threads()
        self._free = self._cores = len(os.sched_getaffinity(0))
        self._seen: tuple[float, float, float] | None = None
        self.free()

    def free(self) -> int:
        """The cores that others left free since the last look, at least one; all where that cannot be known."""
        now, own, busy = time.monotonic(), time.process_time(), self._busy()
        if busy is None:
            return self._cores
        if self._seen is None:
            self._seen = now, own, busy
        then, before, was = self._seen
        if now - then >= LEAST:
            others = max(busy - was - (own - before), 0.0) / (now - then)
            elsewhere = (os.cpu_count() or self._cores) - self._cores  # cores that others may use and this may not
            self._free = max(1, self._cores - round(max(others - elsewhere, 0.0)))
            self._seen = now, own, busy
        return self._free

    def fit(self) -> None:
        """Gives torch so many threads, and no more than it had at first, in the thread that asks."""
        torch.set_num_threads(min(self.free(), self._most))

    def _busy(self) -> float | None:
        """Seconds that all cores together were in use since the machine began; None where the kernel does not say."""
        try:
            ticks = self._stat.read_text().split("\n", 1)[0].split()[1:]
            return sum(int(ticks[number]) for number in _BUSY) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return None

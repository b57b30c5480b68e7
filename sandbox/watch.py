"""What a jail uses, read from outside: memory and processes from /proc, disk from the tree."""

from __future__ import annotations

import os
import time
from pathlib import Path

from sandbox.contract import Ending, Limits
from sandbox.job import Command

_PAGE = os.sysconf("SC_PAGE_SIZE")
_RESERVE = 0.03
_VOLUME = 4


def processes(head: int) -> list[int]:
    """`head` and all its descendants. Those of a pid namespace are descendants of its first process for ever."""
    found = [head]
    for pid in found:
        found += children(pid)
    return found


def children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as handle:
                found += map(int, handle.read().split())
    except OSError:
        pass
    return found


def resident(pids: list[int]) -> int:
    """Bytes of memory in use, summed over processes; pages that several share count for each."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm") as handle:
                total += int(handle.read().split()[1]) * _PAGE
        except (OSError, IndexError):
            continue
    return total


def proportional(pids: list[int]) -> int:
    """As `resident`, but shared pages count once. Slower; where the kernel does not tell, the resident size."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as handle:
                total += next(int(line.split()[1]) * 1024 for line in handle if line.startswith("Pss:"))
        except (OSError, StopIteration):
            total += resident([pid])
    return total


def machine_short() -> bool:
    """Whether the whole machine is about to run out of memory. What no process maps (files in memory, shared memory
    segments, full pipes) is in nobody's resident size: this is the last bound on it.
    """
    with open("/proc/meminfo") as handle:
        sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in handle)}
    return sizes.get("MemAvailable", sizes["MemTotal"]) < sizes["MemTotal"] * _RESERVE


def _free(place: Path) -> int:
    volume = os.statvfs(place)
    return volume.f_bavail * volume.f_frsize


class Disk:
    """The size of a directory, measured again when the last measurement has become cheap compared with its age."""

    def __init__(self, place: Path) -> None:
        self.place, self.due = place, 0.0
        self.used = (0, 0)
        self._free = _free(place)

    def lost(self) -> int:
        """Bytes by which the free space of the volume has shrunk, by whomever. Files that were deleted while they are
        open or mapped are in no directory: this is the last bound on them.
        """
        return self._free - _free(self.place)

    def measure(self) -> tuple[int, int]:
        """Bytes on disk and number of entries, at most some seconds old."""
        begun = time.monotonic()
        if begun >= self.due:
            self.used = _usage(str(self.place))
            self.due = time.monotonic() + max(0.2, 5 * (time.monotonic() - begun))
        return self.used


def _usage(place: str) -> tuple[int, int]:
    size, entries, queue = 0, 0, [place]
    while queue:
        try:
            with os.scandir(queue.pop()) as listing:
                for entry in listing:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, entries


def _device(place: Path) -> int | None:
    try:
        return os.stat(place).st_dev
    except OSError:
        return None


class Gauge:
    """The limits of one run against what it uses now."""

    def __init__(self, head: int, limits: Limits, command: Command) -> None:
        self._head, self._limits, self._inside = head, limits, command.counted
        self._disk = Disk(command.watched) if command.watched else None
        # The stages of the jail itself: bwrap twice, or the supervisor.
        self._overhead = 2

    def excess(self) -> Ending | None:
        """The limit that is exceeded, if one is."""
        limits, pids = self._limits, processes(self._head)
        if len(pids) > limits.processes + self._overhead:
            return Ending.PROCESSES
        if resident(pids) > limits.memory and proportional(pids) > limits.memory:
            return Ending.MEMORY
        if machine_short():
            return Ending.MEMORY
        size, entries = self._disk.measure() if self._disk else (0, self._entries(pids))
        if self._disk and self._disk.lost() > _VOLUME * limits.tree:
            return Ending.DISK
        return Ending.DISK if size > limits.tree or entries > limits.inodes else None

    def _entries(self, pids: list[int]) -> int:
        total = 0
        for place in self._inside:
            inside = f"/proc/{pids[-1]}/root{place}"
            try:
                if os.stat(inside).st_dev == _device(place):
                    continue  # the jail is still being set up, and this is the machine's own file system
                mount = os.statvfs(inside)
                total += mount.f_files - mount.f_ffree
            except OSError:
                continue
        return total

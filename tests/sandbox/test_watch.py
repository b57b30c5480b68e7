from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import watch
from sandbox.contract import MIB, Ending, Limits
from sandbox.job import Command

FAMILY = """
import os, sys
held = b"x" * (20 << 20)
for _ in range(2):
    if not os.fork():
        break
os.write(1, b".")
sys.stdin.read()
"""


@pytest.fixture
def family() -> subprocess.Popen[bytes]:
    """A process of 20 MiB and two children that share its memory."""
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout and process.stdin
    for _ in range(3):
        process.stdout.read(1)
    yield process
    process.stdin.close()
    process.wait()


def test_finds_all_descendants(family: subprocess.Popen[bytes]) -> None:
    found = watch.processes(family.pid)
    assert found[0] == family.pid
    assert len(found) == 3
    assert set(watch.children(family.pid)) == set(found[1:])


def test_a_process_that_is_gone_has_none() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert watch.processes(process.pid) == [process.pid]
    assert watch.resident([process.pid]) == 0


def test_shared_memory_counts_once_when_looked_at_closely(family: subprocess.Popen[bytes]) -> None:
    pids = watch.processes(family.pid)
    assert watch.resident(pids) > 60 * MIB
    assert 20 * MIB < watch.proportional(pids) < 60 * MIB


def test_the_disk_is_measured_in_bytes_and_entries(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/file").write_bytes(os.urandom(1 << 20))
    (tmp_path / "loop").symlink_to(".")
    size, entries = watch.Disk(tmp_path).measure()
    assert (entries, size >= 1 << 20, size < 2 << 20) == (3, True, True)


def gauge(process: subprocess.Popen[bytes], limits: Limits, place: Path | None = None) -> watch.Gauge:
    return watch.Gauge(process.pid, limits, Command([], (), Path(), place))


def test_says_which_limit_is_exceeded(family: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(1 << 20))
    assert gauge(family, Limits(), tmp_path).excess() is None
    assert gauge(family, Limits(memory=10 * MIB)).excess() is Ending.MEMORY
    assert gauge(family, Limits(processes=0)).excess() is Ending.PROCESSES
    assert gauge(family, Limits(tree=1 << 19), tmp_path).excess() is Ending.DISK
    assert gauge(family, Limits(inodes=0), tmp_path).excess() is Ending.DISK


def test_a_machine_that_runs_short_ends_the_jail(
    family: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_RESERVE", 1.01)
    assert gauge(family, Limits()).excess() is Ending.MEMORY

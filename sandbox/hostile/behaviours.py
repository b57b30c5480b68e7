"""The forty behaviours, run against one sandbox.

Attempts (`attempts.py`) share one run, each in a process of its own; those that use something up have a run each.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox import watch
from sandbox.contract import MIB, Completed, Ending, Limits
from sandbox.hostile.canaries import Canaries
from sandbox.jail import Sandbox
from sandbox.job import interpreter
from sandbox.working_copy import WorkingCopy

NAMES = {
    1: "TCP to a service on the machine's loopback", 2: "UDP to a service on the machine's loopback",
    3: "raw, packet, netlink, vsock, AF_ALG sockets", 4: "abstract unix socket of the machine",
    5: "unix socket by path name", 6: "write, change or move files outside", 7: "symbolic link to outside, then write",
    8: "hard link to outside", 9: "read secrets outside", 10: "secrets in the environment",
    11: "inherited descriptors", 12: "ptrace, process_vm_* on PID 1 and outside", 13: "write /proc/PID/mem",
    14: "kill a process outside", 15: "nested user namespace", 16: "mount, fsopen, open_tree, pivot_root, umount",
    17: "mknod, chroot, setns", 18: "setuid(0), su, capabilities", 19: "set-user-id bit on a file of the tree",
    20: "io_uring, userfaultfd, keyctl, bpf, perf, kexec", 21: "/proc/sys, sysrq, kmsg, /sys",
    22: "SCHED_FIFO, negative nice, clock", 23: "fork bomb", 24: "memory bomb, in one process and over several",
    25: "fill /tmp: bytes and inodes", 26: "fill the working copy: bytes and inodes", 27: "sparse file of 1 TB",
    28: "endless output", 29: "read standard input", 30: "ignore SIGTERM, SIGINT, SIGHUP", 31: "daemonised grandchild",
    32: "zombies", 33: "TIOCSTI into the caller's terminal", 34: "terminal escapes in the output",
    35: "git hooks in the tree and in the repository", 36: "core dump", 37: "descriptor exhaustion",
    38: "SysV shared memory", 39: "busy loop", 40: "rlimits of processes outside",
}  # fmt: skip

USED_UP = frozenset({23, 24, 25, 26, 28, 30, 31, 32, 34, 39})
"""Behaviours with runs of their own; the other thirty share one."""

QUICK = (1, 2, 5, 6, 9, 10, 14, 15, 20, 21, 33)
"""Those that `coder doctor` tries."""


@dataclass(frozen=True)
class Finding:
    """What came of one behaviour: `leaks` says what succeeded, nothing if it was contained."""

    number: int
    leaks: tuple[str, ...]
    remark: str = ""

    @property
    def name(self) -> str:
        return NAMES[self.number]


def examine(sandbox: Sandbox, numbers: Iterable[int] = tuple(NAMES)) -> Iterator[Finding]:
    """Try the behaviours `numbers` in `sandbox`. Raises RuntimeError when a probe itself is broken."""
    chosen = sorted(set(numbers))
    attempts = [number for number in chosen if number not in USED_UP]
    if attempts:
        yield from _attempts(sandbox, attempts)
    for number in chosen:
        if number in USED_UP:
            yield _BOMBS[number](Bomb(sandbox, number))


def _attempts(sandbox: Sandbox, numbers: list[int]) -> Iterator[Finding]:
    limits = Limits(wall_s=120, descriptors=128)
    with Canaries() as canaries, WorkingCopy.of(canaries.repository, ["module.py", ".git/config"]) as tree:
        tree.write("attempts.py", (Path(__file__).parent / "attempts.py").read_bytes())
        facts = {**canaries.facts, "descriptors": limits.descriptors}
        command = [interpreter(), "attempts.py", json.dumps(facts), *map(str, numbers)]
        done = sandbox.spawn(command, tree, limits, pass_fds=(canaries.terminal,)).wait()
        if done.ending is not Ending.EXITED or done.returncode != 0:
            raise RuntimeError(f"the probes ended early ({done.ending.value}): {done.stderr or done.stdout}")
        succeeded = json.loads(done.stdout.splitlines()[-1])
        harmed = canaries.harmed()
        pristine = [path for path in tree.base.rglob("*") if path.name not in ("box", "pristine")]
        if any(path.lstat().st_mode & 0o6000 for path in pristine):
            harmed.setdefault(19, []).append("the bit left the run")
        if any(path.name == ".git" for path in pristine):
            harmed.setdefault(35, []).append("the pristine copy has a .git")
    for number in numbers:
        inside = succeeded[str(number)]
        if isinstance(inside, dict):
            raise RuntimeError(f"probe {number} is broken: {inside['error']}")
        yield Finding(number, (*inside, *harmed.get(number, ())))


class Bomb:
    """One behaviour with runs of its own; collects what it used and what was not held."""

    def __init__(self, sandbox: Sandbox, number: int) -> None:
        self.sandbox, self.number = sandbox, number
        self.leaks: list[str] = []
        self.remarks: list[str] = []

    def run(self, code: str, limits: Limits, *words: str) -> Completed:
        with WorkingCopy.of("/", ()) as tree:
            tree.write("bomb.py", code)
            return self.sandbox.run([interpreter(), "-I", "-S", "bomb.py", *words], tree, limits)

    def expect(self, holds: bool, leak: str, remark: str = "") -> None:
        if not holds:
            self.leaks.append(leak)
        if remark:
            self.remarks.append(remark)

    def finding(self) -> Finding:
        return Finding(self.number, tuple(self.leaks), "; ".join(self.remarks))


def _fork_bomb(bomb: Bomb) -> Finding:
    done = bomb.run(_FORKS, Limits(wall_s=3, processes=64))
    made = len(done.stdout)
    bomb.expect(made < 64 or done.ending is Ending.PROCESSES, f"{made} processes", f"{made} forks, {_end(done)}")
    return bomb.finding()


def _memory_bomb(bomb: Bomb) -> Finding:
    limits = Limits(wall_s=20, memory=192 * MIB)
    one = bomb.run(_MEMORY, limits, "1", "400")
    bomb.expect("MemoryError" in one.stderr or one.ending is Ending.MEMORY, "400 MiB in one process")
    several = bomb.run(_MEMORY, limits, "5", "100")
    bomb.expect(several.ending is Ending.MEMORY, "500 MiB over five processes", f"several: {several.ending.value}")
    return bomb.finding()


def _fill(place: str) -> Callable[[Bomb], Finding]:
    def fill(bomb: Bomb) -> Finding:
        limits = Limits(wall_s=20, tree=24 * MIB, file=16 * MIB, inodes=1500)
        for what, bound in (("bytes", limits.tree), ("inodes", limits.inodes)):
            done = bomb.run(_FILL, limits, place, what)
            held = done.ending is Ending.DISK or (done.stdout.strip().isdigit() and int(done.stdout) <= bound)
            bomb.expect(held, f"{what}: {done.stdout.strip() or _end(done)}", f"{what}: {_end(done)}")
        return bomb.finding()

    return fill


def _endless_output(bomb: Bomb) -> Finding:
    done = bomb.run("while True: print('x' * 1000)", Limits(wall_s=20, output=200_000))
    bomb.expect(done.ending is Ending.OUTPUT and len(done.stdout) <= 200_000, "not stopped")
    return bomb.finding()


def _deaf(bomb: Bomb) -> Finding:
    return _ends_in_time(bomb, _DEAF)


def _busy(bomb: Bomb) -> Finding:
    return _ends_in_time(bomb, "import sys\nwhile True: pass")


def _ends_in_time(bomb: Bomb, code: str) -> Finding:
    token = os.urandom(8).hex()
    done = bomb.run(code, Limits(wall_s=0.4), token)
    bomb.expect(done.ending is Ending.TIMEOUT and not _alive(token), "still runs")
    return bomb.finding()


def _daemon(bomb: Bomb) -> Finding:
    token = os.urandom(8).hex()
    begun = time.monotonic()
    done = bomb.run(_DAEMON, Limits(wall_s=30), token)
    bomb.expect(done.returncode == 0 and not _alive(token), "still runs")
    bomb.expect(time.monotonic() - begun < 25, "the run waited for it")
    return bomb.finding()


def _zombies(bomb: Bomb) -> Finding:
    done = bomb.run(_ZOMBIES, Limits(wall_s=10))
    left = [pid for pid in watch.children(os.getpid()) if _state(pid) == "Z"]
    bomb.expect(done.returncode == 0 and not left, f"{done.stdout.strip()} inside, {len(left)} outside")
    return bomb.finding()


def _escapes(bomb: Bomb) -> Finding:
    done = bomb.run(_ESCAPES, Limits(wall_s=10))
    shown = done.stdout + done.stderr
    bomb.expect(done.stdout == "start\tend\n" * 2 and done.stderr == "done\n", repr(shown))
    return bomb.finding()


def _end(done: Completed) -> str:
    return "refused" if done.ending is Ending.EXITED else done.ending.value


def _alive(token: str) -> bool:
    time.sleep(0.1)
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and token.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


_BOMBS: dict[int, Callable[[Bomb], Finding]] = {
    23: _fork_bomb, 24: _memory_bomb, 25: _fill("TMPDIR"), 26: _fill("."), 28: _endless_output, 30: _deaf, 31: _daemon,
    32: _zombies, 34: _escapes, 39: _busy,
}  # fmt: skip

_FORKS = """
import os, time
for _ in range(500):
    try:
        if not os.fork():
            time.sleep(60)
    except OSError:
        break
    os.write(1, b".")
time.sleep(0.3)
"""
_MEMORY = """
import os, sys, time
processes, size = int(sys.argv[1]), int(sys.argv[2]) << 20
for _ in range(processes - 1):
    if not os.fork():
        break
held = b"x" * size
time.sleep(20)
"""
_FILL = """
import os, sys
place = os.environ.get(sys.argv[1], sys.argv[1])
done, number = 0, 0
try:
    while number < 40_000 and done < 400 << 20:
        with open(f"{place}/{number}", "wb", buffering=0) as handle:
            if sys.argv[2] == "bytes":
                for _ in range(8):
                    done += handle.write(bytes(1 << 20))
            else:
                done += 1
        number += 1
except OSError:
    pass
print(done)
"""
_DEAF = """
import _signal, time
for number in range(1, 32):
    try:
        _signal.signal(number, _signal.SIG_IGN)
    except OSError:
        pass
while True: time.sleep(1)
"""
_DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(60)
    os._exit(0)
os.wait()
"""
_ZOMBIES = """
import os, time
for _ in range(20):
    if not os.fork():
        os.fork()
        os._exit(0)
for _ in range(20):
    os.wait()
time.sleep(0.5)
try:
    states = [open(f"/proc/{name}/stat").read().split()[2] for name in os.listdir("/proc") if name.isdigit()]
except OSError:
    states = []
print(states.count("Z"))
raise SystemExit(states.count("Z"))
"""
_ESCAPES = r"""
import sys
hostile = ["\x1b]0;title\x07", "\x1b]52;c;cm0gLXJm\x1b\\", "\x1b[2J\x1b[1;1H", "\x1bP1$r\x1b\\", "\x9b31m", "\x08\x08"]
hostile += ["\x0e", "\u202e", "\x1bc", "\r", "\x7f", "\x1b[8m", "\x00"]
print("start\t" + "".join(hostile) + "end")
print("start\t" + "\r".join(hostile) + "end")
print("done", file=sys.stderr)
"""

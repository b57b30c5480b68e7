"""The rungs without namespaces: Landlock and seccomp (L2), and no jail at all (by explicit demand only).

The tree is a directory on the machine's own disk, watched and capped; a supervisor outside of the rules is the reaper
of all descendants and ends them. What Landlock leaves open is closed by the stricter seccomp policy (docs/sandbox.md).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox import job as jobs
from sandbox import policy, seccomp
from sandbox.contract import Level
from sandbox.job import Command, Job

LANDLOCK_ABI = 6
"""The first version that keeps signals and abstract sockets inside (Linux 6.12)."""


@dataclass(frozen=True)
class Bare:
    jailed: bool

    namespaces = False

    @property
    def level(self) -> Level:
        return Level.LANDLOCK if self.jailed else Level.NONE

    def command(self, job: Job) -> Command:
        place = Path(tempfile.mkdtemp(prefix="run-", dir=job.copy.base))
        tree, temporary = place / "tree", place / "tmp"
        environment = {
            name: value.replace("/tmp", str(temporary)) if name in ("HOME", "TMPDIR") else value
            for name, value in job.environment.items()
        }
        plan = {
            "keep": job.keep,
            "report": job.report,
            "copy": [str(job.copy.root), str(tree)],
            "directories": [str(tree), str(temporary), environment["HOME"]],
            "limits": jobs.resource_limits(job.limits, _processes_of_user() + job.limits.processes),
            "uid": None,
            "landlock": {"read": list(_readable(job)), "write": [str(place), *policy.DEVICES]} if self.jailed else None,
            "filter": seccomp.program(shared_kernel_objects=True) if self.jailed else None,
            "jailed": self.jailed,
            "environment": environment,
            "directory": str(tree),
            "supervise": True,
        }
        argv = jobs.stage(policy.PACKAGE / "enter.py", plan, job.argv)
        return Command(argv, (*job.keep, job.report), tree, place)


def _readable(job: Job) -> Iterator[str]:
    yield from (*policy.SYSTEM, *policy.ETC, *policy.PROC)
    yield from ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")
    yield str(policy.PACKAGE)
    yield from map(str, (*policy.interpreter_paths(jobs.interpreter()), *job.read_only))


def _processes_of_user() -> int:
    """Processes and threads that the user runs already: RLIMIT_NPROC counts them all."""
    uid, total = os.getuid(), 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                total += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return total

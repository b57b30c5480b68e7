"""Outer stage of a jail with namespaces: a tmpfs with real bounds, in a private mount namespace, then bwrap.

bwrap's own `--tmpfs` has a size and no bound on inodes. Run as `python -I -S launch.py PLAN BWRAP ARGS…` with an empty
environment, the plan marshalled in hexadecimal; becomes bwrap, which finds the tmpfs at `box` with `tree`, `tmp` and
`shm` in it.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 16384, 1 << 18


def main() -> None:
    plan, command = marshal.loads(bytes.fromhex(sys.argv[1])), sys.argv[2:]
    with open("/proc/self/oom_score_adj", "w") as handle:
        handle.write("1000")  # when memory runs out, the kernel ends the jail first
    _own_mounts()
    box = plan["box"].encode()
    options = f"size={plan['size']},nr_inodes={plan['inodes']},mode=0755".encode()
    _check(_libc.mount(b"tmpfs", box, b"tmpfs", _MS_NOSUID | _MS_NODEV, options), "mount")
    for name in ("tree", "tmp", "shm"):
        place = os.path.join(plan["box"], name)
        os.mkdir(place)
        os.chmod(place, 0o755 if name == "tree" else 0o1777)
        if plan["uid"] is not None:
            os.chown(place, plan["uid"], plan["uid"])
    os.execve(command[0], command, {})


_libc = ctypes.CDLL(None, use_errno=True)


def _own_mounts() -> None:
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        _check(_libc.unshare(_CLONE_NEWNS), "unshare")
    else:
        _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWUSER), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as handle:
                handle.write(text)
    _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "private mounts")


def _check(result: int, what: str) -> None:
    if result:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()

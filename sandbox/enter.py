"""Inner stage of every jail: fill the tree, set the limits, give up rights, become the command.

Run as `python -I -S enter.py PLAN COMMAND…`; the plan is marshalled, in hexadecimal, with these keys:

    keep         descriptors that stay open
    report       descriptor on which this stage says that the jail stands ("+"), or why not ("full: …", "jail: …")
    copy         (from, to) or None: the tree
    directories  to make before
    limits       {resource: value}
    jailed       whether to give up all rights, and to check that they are gone
    uid          to become, or None
    landlock     {"read": paths, "write": paths} or None
    filter       seccomp program or None, where bwrap does not load it
    environment  of the command
    directory    in which the command starts
    supervise    whether to stay as the parent that ends all descendants

Imports only what costs nothing: half of the time to start a jail is the start of Python.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT = 1, 36, 24, 47
_PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS, _PR_GET_SECCOMP, _PR_SET_SECCOMP = 38, 39, 21, 22
_AMBIENT_CLEAR, _MODE_FILTER = 4, 2
_SIGINT, _SIGPIPE, _SIGXFSZ = 2, 13, 25
_libc = ctypes.CDLL(None, use_errno=True)
_CAPABILITIES = (ctypes.c_uint32 * 2)(0x20080522, 0)  # struct __user_cap_header_struct: version 3, this process


def main() -> None:
    plan, command = marshal.loads(bytes.fromhex(sys.argv[1])), sys.argv[2:]
    if plan["supervise"]:
        _supervise()
    _close_all_but({0, 1, 2, plan["report"], *plan["keep"]})
    try:
        _enter(plan)
    except Exception as failure:
        full = isinstance(failure, OSError) and failure.errno == errno.ENOSPC
        os.write(plan["report"], f"{'full' if full else 'jail'}: {failure}".encode())
        os._exit(126)
    os.set_inheritable(plan["report"], False)
    os.write(plan["report"], b"+")
    try:
        os.execvpe(command[0], command, plan["environment"])
    except OSError as failure:
        os.write(plan["report"], f"command: {command[0]}: {failure.strerror}".encode())
        os._exit(127)


def _enter(plan: dict[str, Any]) -> None:
    os.umask(0o022)
    if plan["jailed"]:
        _drop(plan["uid"])
    for place in plan["directories"]:
        os.makedirs(place, exist_ok=True)
    if plan["copy"]:
        copy_tree(*plan["copy"])
    for name, value in plan["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
    os.chdir(plan["directory"])
    if plan["landlock"] is not None:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import landlock

        landlock.restrict(plan["landlock"]["read"], plan["landlock"]["write"])
    if plan["filter"] is not None:
        _filter(plan["filter"])
    for number in (_SIGINT, _SIGPIPE, _SIGXFSZ):  # Python's own settings, which exec would keep
        _libc.signal(number, None)
    if plan["jailed"]:
        _verify(plan["uid"])


def copy_tree(source: str, target: str) -> None:
    """Copy files, links and directories, with execute bits and modification times, into the existing `target`."""
    for entry in os.scandir(source):
        place = os.path.join(target, entry.name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), place)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(place)
            copy_tree(entry.path, place)
        else:
            status = entry.stat(follow_symlinks=False)
            with open(entry.path, "rb") as origin, open(place, "xb") as copy:
                while os.sendfile(copy.fileno(), origin.fileno(), None, 1 << 24):
                    pass
            os.chmod(place, 0o755 if status.st_mode & 0o100 else 0o644)
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def _drop(uid: int | None) -> None:
    """Empty all capability sets and become `uid`; no_new_privs keeps an exec from giving anything back."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            break
    _libc.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or _libc.capset(_CAPABILITIES, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capabilities stay")


def _verify(uid: int | None) -> None:
    """The last look before the command: refuse to run it if any right is left."""
    held = (ctypes.c_uint32 * 6)()
    if _libc.capget(_CAPABILITIES, held) or any(held):
        raise PermissionError("capabilities are left")
    if (uid is not None and set(os.getresuid() + os.getresgid()) != {uid}) or (uid is not None and os.getgroups()):
        raise PermissionError("the uid was not dropped")
    if _libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 or _libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) != 2:
        raise PermissionError("no seccomp filter")


def _filter(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(Program(len(program) // 8, program))):
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")


def _close_all_but(keep: set[int]) -> None:
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = list(range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    for number in numbers:
        if number not in keep:
            try:
                os.close(number)
            except OSError:
                pass


def _supervise() -> None:
    """Returns in a child. The parent waits for it as the reaper of all descendants, ends them and exits likewise."""
    import signal

    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    caller = os.getppid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    stop = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    child = os.fork()
    if not child:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stop)
        return
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    code = None
    while code is None and os.getppid() == caller:
        signalled = signal.sigtimedwait(stop, 0.5)
        if signalled is not None and signalled.si_signo != signal.SIGCHLD:
            break
        code = _reap(child)
    while True:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == child and code is None:
            code = _exit_code(status)
    os._exit(137 if code is None else code)


def _reap(child: int) -> int | None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == child:
            return _exit_code(status)
        if not pid:
            return None


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _descendants() -> list[int]:
    found, queue = [], [os.getpid()]
    while queue:
        pid = queue.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as handle:
                    children = [int(word) for word in handle.read().split()]
                found += children
                queue += children
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main()

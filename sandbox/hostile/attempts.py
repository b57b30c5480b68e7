"""What hostile code tries: runs inside the jail as a plain file, `python attempts.py FACTS NUMBER…`.

FACTS is JSON that names the canaries outside (see `canaries.py`). Only canaries are touched: settings of the machine
are opened and left alone, and calls that would change one get arguments that no kernel accepts. Each attempt runs in a
process of its own; the last line printed is JSON {number: [what succeeded]}; {"error": …} marks a probe that is broken.
"""
# ruff: noqa: SIM115

import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import termios

facts = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
REFUSALS = (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EAFNOSUPPORT, errno.EROFS)


class Attempt:
    """Collects what was not refused."""

    def __init__(self):
        self.succeeded = []

    def call(self, label, function, *arguments):
        try:
            result = function(*arguments)
        except (OSError, ValueError, subprocess.SubprocessError) as refusal:
            return refusal
        self.succeeded.append(label)
        return result

    def system(self, label, number, *arguments):
        """A raw system call; anything but a plain refusal counts as having reached the kernel."""
        if libc.syscall(number[ARM], *arguments) >= 0 or ctypes.get_errno() not in REFUSALS:
            self.succeeded.append(label)

    def open(self, path, flags=os.O_WRONLY):
        self.call(path, lambda: os.close(os.open(path, flags)))


def tcp(attempt):
    attempt.call("connected", socket.create_connection, ("127.0.0.1", facts["tcp"]), 2)


def udp(attempt):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"canary", ("127.0.0.1", facts["udp"]))


def families(attempt):
    kinds = {
        "raw": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "packet": (socket.AF_PACKET, socket.SOCK_RAW, 0),
        "netlink": (socket.AF_NETLINK, socket.SOCK_RAW, 0),
        "vsock": (socket.AF_VSOCK, socket.SOCK_STREAM, 0),
        "alg": (socket.AF_ALG, socket.SOCK_SEQPACKET, 0),
        "mptcp in a foreign family": (socket.AF_TIPC, socket.SOCK_STREAM, 0),
    }
    for label, kind in kinds.items():
        attempt.call(label, socket.socket, *kind)


def abstract_socket(attempt):
    attempt.call("connected", lambda: socket.socket(socket.AF_UNIX).connect("\0" + facts["abstract"]))


def socket_file(attempt):
    attempt.call("connected", lambda: socket.socket(socket.AF_UNIX).connect(facts["socket"]))

    def stray_datagram():
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.connect(facts["datagram"])
        one.send(b"canary")

    attempt.call("datagram sent", stray_datagram)


def write_outside(attempt):
    for path in (facts["victim"], facts["directory"] + "/new", "/usr/canary", "/etc/canary", "/canary", "/dev/canary"):
        attempt.open(path, os.O_WRONLY | os.O_CREAT)
    for change in (
        lambda: os.chmod(facts["victim"], 0o777),
        lambda: os.utime(facts["victim"], (0, 0)),
        lambda: os.setxattr(facts["victim"], "user.canary", b"1"),
        lambda: os.truncate(facts["victim"], 0),
        lambda: os.unlink(facts["victim"]),
        lambda: os.rename(facts["victim"], "stolen"),
    ):
        try:
            change()  # may be reported as done: judged outside
        except OSError:
            pass


def symbolic_link(attempt):
    os.symlink(facts["victim"], "symbolic")
    attempt.call("written", lambda: open("symbolic", "a").write("harm"))


def hard_link(attempt):
    attempt.call("linked", os.link, facts["victim"], "hard")


def secrets(attempt):
    attempt.call("secret read", lambda: open(facts["secret"]).read())
    attempt.call("directory listed", os.listdir, facts["directory"])
    attempt.call("shadow read", lambda: open("/etc/shadow").read())
    attempt.call("home of root listed", os.listdir, "/root/.ssh")


def environment(attempt):
    if facts["variable"] in os.environ:
        attempt.succeeded.append("in the environment")
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        processes = ["self", "1", str(facts["pid"]), str(os.getppid())]
    for pid in processes:
        try:
            if facts["token"].encode() in open(f"/proc/{pid}/environ", "rb").read():
                attempt.succeeded.append(f"environment of {pid}")
        except OSError:
            pass


def descriptors(attempt):
    for number in range(3, 256):
        if number not in (facts["terminal"], facts["report"]):
            attempt.call(f"descriptor {number}", os.fstat, number)


def trace(attempt):
    class Vector(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    memory = ctypes.create_string_buffer(8)
    local = Vector(ctypes.addressof(memory), 8)
    for pid in (1, facts["pid"]):
        attempt.system(f"ptrace {pid}", (101, 117), 16, pid, 0, 0)
        for label, number in (("readv", (310, 270)), ("writev", (311, 271))):
            attempt.system(f"process_vm_{label} {pid}", number, pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0)


def memory_file(attempt):
    for pid in (1, facts["pid"]):
        attempt.open(f"/proc/{pid}/mem", os.O_RDWR)


def kill_outside(attempt):
    for label, kill in (("process", os.kill), ("group", os.killpg)):
        attempt.call(label, kill, facts["pid"], signal.SIGTERM)
    attempt.call("by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(facts["pid"]), signal.SIGTERM))


def user_namespace(attempt):
    flag = 0x10000000
    attempt.call("unshare", lambda: check(libc.unshare(flag)))
    attempt.system("clone", (56, 220), flag | signal.SIGCHLD, 0, 0, 0, 0)
    attempt.system("clone3", (435, 435), (ctypes.c_uint64 * 11)(flag, 0, 0, 0, signal.SIGCHLD), 88)
    attempt.call("unshare(1)", lambda: subprocess.run(["unshare", "-U", "true"], check=True, capture_output=True))


def mounts(attempt):
    os.makedirs("m", exist_ok=True)
    attempt.call("mount", lambda: check(libc.mount(b"none", b"m", b"tmpfs", 0, None)))
    attempt.call("remount", lambda: check(libc.mount(None, b".", None, 32 | 4096, None)))
    attempt.call("bind", lambda: check(libc.mount(b".", b"m", None, 4096, None)))
    attempt.call("umount", lambda: check(libc.umount2(b"m", 2)))
    attempt.system("fsopen", (430, 430), b"tmpfs", 0)
    attempt.system("open_tree", (428, 428), -100, b".", 1)
    attempt.system("mount_setattr", (442, 442), -100, b"m", 0, 0, 0)
    attempt.system("pivot_root", (155, 41), b"m", b"m")


def devices(attempt):
    attempt.call("mknod", os.mknod, "device", 0o20666, os.makedev(1, 3))
    attempt.call("chroot", os.chroot, ".")
    attempt.call("setns", lambda: check(libc.setns(os.open("/proc/self/ns/uts", os.O_RDONLY), 0)))


def become_root(attempt):
    def held():
        sets = (ctypes.c_uint32 * 6)()
        check(libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets))
        return any(sets)

    if os.getuid() != 0:
        attempt.call("setuid", os.setuid, 0)
        attempt.call("setresuid", os.setresuid, 0, 0, 0)
        for words in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"]):
            try:
                done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=3)
                if done.stdout.strip() == b"0":
                    attempt.succeeded.append(words[0])
            except (OSError, subprocess.SubprocessError):
                pass
    if held():
        attempt.succeeded.append("capabilities")


def suid_bit(attempt):
    with open("suid", "w") as handle:
        handle.write("#!/bin/sh\n")
    os.chmod("suid", 0o4755)  # judged outside: the bit must not leave the copy


def kernel_interfaces(attempt):
    buffer = ctypes.create_string_buffer(256)
    attempt.system("io_uring_setup", (425, 425), 1, buffer)
    attempt.system("userfaultfd", (323, 282), 1)
    attempt.system("keyctl", (250, 219), 0, -3, 0)
    attempt.system("add_key", (248, 217), b"user", b"canary", b"1", 1, -3)
    attempt.system("bpf", (321, 280), 0, buffer, 0)
    attempt.system("perf_event_open", (298, 241), buffer, 0, -1, -1, 0)
    attempt.system("kexec_load", (246, 104), 0, 0, 0, 0xFFFFFFFF)
    attempt.system("open_by_handle_at", (304, 265), -100, buffer, 0)


def settings(attempt):
    for path in (
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/fs/suid_dumpable",
        "/proc/sysrq-trigger",
        "/dev/kmsg",
        "/dev/mem",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/cgroup.procs",
    ):
        attempt.open(path)


def priorities(attempt):
    attempt.call("SCHED_FIFO", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
    attempt.call("nice", os.setpriority, os.PRIO_PROCESS, 0, -5)
    attempt.system("clock_settime", (227, 112), 0, (ctypes.c_int64 * 2)(0, -1))
    attempt.system("sethostname", (170, 161), 0, -1)


def standard_input(attempt):
    if os.read(0, 100):
        attempt.succeeded.append("something was read")


def terminal(attempt):
    attempt.open(facts["terminal_path"], os.O_RDWR | os.O_NOCTTY)
    attempt.call("TIOCSTI on a standard stream", fcntl.ioctl, 1, termios.TIOCSTI, b"\n")
    if os.fork() == 0:  # the leader of a session may take a terminal that it was given
        os.setsid()
        try:
            fcntl.ioctl(facts["terminal"], termios.TIOCSCTTY, 0)
        except OSError:
            pass
        for letter in b"PWNED\n":
            try:
                fcntl.ioctl(facts["terminal"], termios.TIOCSTI, bytes([letter]))
            except OSError:
                pass
        os._exit(0)
    os.wait()


def git_hooks(attempt):
    for place in (".git/hooks", facts["repository"] + "/.git/hooks"):
        try:
            os.makedirs(place, exist_ok=True)
            with open(place + "/post-checkout", "w") as hook:
                hook.write("#!/bin/sh\necho harm\n")
        except OSError:
            pass


def core_dump(attempt):
    for bound in (0, resource.RLIM_INFINITY):
        attempt.call(f"core limit {bound}", resource.setrlimit, resource.RLIMIT_CORE, (bound, resource.RLIM_INFINITY))
    child = os.fork()
    if not child:
        os.abort()
    if os.WCOREDUMP(os.waitpid(child, 0)[1]):
        attempt.succeeded.append("core dumped")


def descriptor_flood(attempt):
    held: list[int] = []
    try:
        while len(held) < 2 * facts["descriptors"]:
            held.append(os.open("/dev/null", os.O_RDONLY))
        attempt.succeeded.append(f"{len(held)} opened")
    except OSError:
        pass


def shared_memory(attempt):
    attempt.call("attached", lambda: check(libc.shmget(facts["segment"], 0, 0)))
    libc.shmget(facts["segment"] + 1, 4096, 0o1666)  # judged outside: no such segment may appear there


def other_limits(attempt):
    for label, pid in (("canary", facts["pid"]), ("outer", facts["outer"])):
        attempt.call(label, resource.prlimit, pid, resource.RLIMIT_NPROC, (9, 9))


def sparse_file(attempt):
    attempt.call("1 TB", lambda: open("sparse", "wb").truncate(1 << 40))


def check(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


ATTEMPTS = {
    1: tcp, 2: udp, 3: families, 4: abstract_socket, 5: socket_file, 6: write_outside, 7: symbolic_link, 8: hard_link,
    9: secrets, 10: environment, 11: descriptors, 12: trace, 13: memory_file, 14: kill_outside, 15: user_namespace,
    16: mounts, 17: devices, 18: become_root, 19: suid_bit, 20: kernel_interfaces, 21: settings, 22: priorities,
    27: sparse_file, 29: standard_input, 33: terminal, 35: git_hooks, 36: core_dump, 37: descriptor_flood,
    38: shared_memory, 40: other_limits,
}  # fmt: skip


def run(number):
    """What succeeded; a process of its own, so that no attempt sees what another has changed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        facts["report"] = writing
        signal.alarm(8)
        attempt = Attempt()
        broken = None
        try:
            ATTEMPTS[number](attempt)
        except OSError:
            pass  # refused: the attempt could go no further
        except Exception as failure:
            broken = {"error": repr(failure)}
        os.write(writing, json.dumps(broken or attempt.succeeded).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if text else {"error": f"ended with status {status}"}


if __name__ == "__main__":
    print(json.dumps({number: run(int(number)) for number in sys.argv[2:]}))

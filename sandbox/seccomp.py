"""A seccomp filter assembled in Python: system calls that no test suite needs and many escapes do.

The filter is a deny list over the kernel interfaces that reach beyond the jail or that are a known attack surface
(namespaces, mounts, keys, BPF, io_uring, tracing, handles, time, modules), with argument checks where a call is
ordinary in one form and dangerous in another. Format: classic BPF over `struct seccomp_data`, see seccomp(2).
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass
from typing import NamedTuple

# BPF opcodes: load a 32-bit word, and with a constant, jump, return.
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets in struct seccomp_data
_X32_BIT = 0x40000000
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_SAME = -2  # on aarch64 the same number: calls added since both tables grew in step
_NONE = -1
# name: (number on x86_64, number on aarch64)
_NUMBERS: dict[str, tuple[int, int]] = {
    "_sysctl": (156, _NONE), "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "bind": (49, 200), "chmod": (90, _NONE), "chown": (92, _NONE), "chroot": (161, 51), "clock_adjtime": (305, 266),
    "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, _SAME), "connect": (42, 203),
    "create_module": (174, _NONE), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, _SAME),
    "fchown": (93, 55), "fchownat": (260, 54), "file_setattr": (469, _SAME), "finit_module": (313, 273),
    "fremovexattr": (199, 16), "fsconfig": (431, _SAME), "fsetxattr": (190, 7), "fsmount": (432, _SAME),
    "fsopen": (430, _SAME), "fspick": (433, _SAME), "futimesat": (261, _NONE), "init_module": (175, 105),
    "io_uring_enter": (426, _SAME), "io_uring_register": (427, _SAME), "io_uring_setup": (425, _SAME),
    "ioctl": (16, 29), "ioperm": (173, _NONE), "iopl": (172, _NONE), "ioprio_set": (251, 30), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "lchown": (94, _NONE),
    "listen": (50, 201), "lookup_dcookie": (212, 18), "lremovexattr": (198, 15), "lsetxattr": (189, 6),
    "migrate_pages": (256, 238), "mknod": (133, _NONE), "mknodat": (259, 33), "mount": (165, 40),
    "mount_setattr": (442, _SAME), "move_mount": (429, _SAME), "move_pages": (279, 239), "mq_open": (240, 180),
    "mq_unlink": (241, 181), "msgget": (68, 186), "name_to_handle_at": (303, 264), "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265), "open_tree": (428, _SAME), "open_tree_attr": (467, _SAME),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, _SAME), "pivot_root": (155, 41),
    "prlimit64": (302, 261), "process_madvise": (440, _SAME), "process_mrelease": (448, _SAME),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60),
    "quotactl_fd": (443, _SAME), "reboot": (169, 142), "removexattr": (197, 14), "removexattrat": (466, _SAME),
    "request_key": (249, 218), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "semget": (64, 190), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140), "settimeofday": (164, 170),
    "setrlimit": (160, 164),
    "setxattr": (188, 5), "setxattrat": (463, _SAME), "shmat": (30, 196), "shmget": (29, 194), "socket": (41, 198),
    "socketpair": (53, 199), "swapoff": (168, 225), "swapon": (167, 224), "sysfs": (139, _NONE), "syslog": (103, 116),
    "umount2": (166, 39), "unshare": (272, 97), "uselib": (134, _NONE), "userfaultfd": (323, 282),
    "ustat": (136, _NONE), "utime": (132, _NONE), "utimensat": (280, 88), "utimes": (235, _NONE), "vhangup": (153, 58),
}  # fmt: skip

_FORBIDDEN = """
    _sysctl acct add_key adjtimex bpf chroot clock_adjtime clock_settime create_module delete_module fanotify_init
    fanotify_mark finit_module fsconfig fsmount fsopen fspick init_module ioperm iopl kcmp kexec_file_load kexec_load
    keyctl lookup_dcookie migrate_pages mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl
    open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pivot_root process_madvise process_mrelease
    process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key setdomainname sethostname setns
    settimeofday swapoff swapon sysfs syslog umount2 unshare uselib userfaultfd ustat vhangup
"""
# "Not implemented" makes callers fall back: glibc from clone3 to clone, whose flags a filter can see.
_ABSENT = "clone3 io_uring_enter io_uring_register io_uring_setup"

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_DGRAM, _SOCK_RAW, _SOCK_PACKET, _SOCK_TYPE = 2, 3, 10, 0xF
_NAMESPACES = 0x7E020080  # CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
_TIOCSTI, _TIOCLINUX, _FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR = 0x5412, 0x541C, 0x40086602, 0x401C5820
_S_IFMT, _S_IFCHR, _S_IFBLK = 0o170000, 0o020000, 0o060000
_PERSONALITY_QUERY, _RLIMIT_CORE = 0xFFFFFFFF, 4

# Without namespaces these reach objects of the whole machine, or metadata that Landlock does not guard.
_SHARED = "bind connect listen mq_open mq_unlink msgget semget shmat shmget socket ioprio_set"
# Reported as done, not done: copying tools call them for every file and give up when they fail.
_METADATA = """
    chmod chown fchmod fchmodat fchmodat2 fchown fchownat futimesat lchown utime utimensat utimes
"""
_ATTRIBUTES = """
    file_setattr fremovexattr fsetxattr lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat
"""


class Unsupported(Exception):
    """There is no filter for this processor."""


class Test(NamedTuple):
    """One condition on the low 32 bits of an argument (the kernel reads no more of most), or on the `high` ones."""

    argument: int
    kind: str  # "is", "is not", "any bit"
    value: int
    mask: int = 0xFFFFFFFF
    high: bool = False


@dataclass(frozen=True)
class Rule:
    """Answer `name` with `error` when all tests hold; 0 pretends success without doing anything."""

    name: str
    error: int = errno.EPERM
    tests: tuple[Test, ...] = ()


def rules(shared_kernel_objects: bool) -> list[Rule]:
    """The policy. `shared_kernel_objects` adds what must be denied when the jail has no namespaces of its own."""
    policy = [Rule(name) for name in _FORBIDDEN.split()] + [Rule(name, errno.ENOSYS) for name in _ABSENT.split()]
    policy += [
        Rule("clone", errno.EPERM, (Test(0, "any bit", _NAMESPACES),)),
        Rule("ioctl", errno.EPERM, (Test(1, "is", _TIOCSTI),)),
        Rule("ioctl", errno.EPERM, (Test(1, "is", _TIOCLINUX),)),
        Rule("mknod", errno.EPERM, (Test(1, "is", _S_IFCHR, _S_IFMT),)),
        Rule("mknod", errno.EPERM, (Test(1, "is", _S_IFBLK, _S_IFMT),)),
        Rule("mknodat", errno.EPERM, (Test(2, "is", _S_IFCHR, _S_IFMT),)),
        Rule("mknodat", errno.EPERM, (Test(2, "is", _S_IFBLK, _S_IFMT),)),
        Rule("personality", errno.EPERM, (Test(0, "is not", 0), Test(0, "is not", _PERSONALITY_QUERY))),
        Rule("prlimit64", errno.EPERM, (Test(0, "is not", 0),)),
        # Asking for the limit on core files is fine (a null pointer), lifting it is not: see `Jailed`.
        Rule("prlimit64", errno.EPERM, (Test(1, "is", _RLIMIT_CORE), Test(2, "is not", 0))),
        Rule("prlimit64", errno.EPERM, (Test(1, "is", _RLIMIT_CORE), Test(2, "is not", 0, high=True))),
        Rule("setrlimit", errno.EPERM, (Test(0, "is", _RLIMIT_CORE),)),
        Rule("socketpair", errno.EPERM, (Test(0, "is not", _AF_UNIX),)),
    ]
    if shared_kernel_objects:
        policy += [Rule(name) for name in _SHARED.split()]
        policy += [Rule(name, 0) for name in _METADATA.split()] + [
            Rule(name, errno.EOPNOTSUPP) for name in _ATTRIBUTES.split()
        ]
        policy += [
            # A datagram socket can be pointed at any socket file later, even one that came out of socketpair.
            Rule("socketpair", errno.EPERM, (Test(1, "is", _SOCK_DGRAM, _SOCK_TYPE),)),
            Rule("setpriority", errno.EPERM, (Test(0, "is not", 0),)),
            Rule("setpriority", errno.EPERM, (Test(1, "is not", 0),)),
            Rule("ioctl", errno.EPERM, (Test(1, "is", _FS_IOC_SETFLAGS),)),
            Rule("ioctl", errno.EPERM, (Test(1, "is", _FS_IOC_FSSETXATTR),)),
        ]
        policy += [
            Rule(name, errno.EPERM, (Test(0, "is not", 0),))
            for name in ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
        ]
    else:
        family = tuple(Test(0, "is not", family) for family in (_AF_UNIX, _AF_INET, _AF_INET6))
        policy += [
            Rule("socket", errno.EAFNOSUPPORT, family),
            Rule("socket", errno.EPERM, (Test(1, "is", _SOCK_RAW, _SOCK_TYPE),)),
            Rule("socket", errno.EPERM, (Test(1, "is", _SOCK_PACKET, _SOCK_TYPE),)),
        ]
    return policy


def program(shared_kernel_objects: bool, machine: str | None = None) -> bytes:
    """The policy as an array of `struct sock_filter`, ready for prctl(2) or `bwrap --seccomp`.

    Raises Unsupported on processors other than x86_64 and aarch64.
    """
    machine = machine or platform.machine()
    if machine not in _AUDIT_ARCH:
        raise Unsupported(f"no seccomp table for {machine}")
    code = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, _AUDIT_ARCH[machine]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NR)]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL)]
    for rule in rules(shared_kernel_objects):
        x86, arm = _NUMBERS[rule.name]
        number = x86 if machine == "x86_64" or arm == _SAME else arm
        if number != _NONE:
            code += _assemble(number, rule)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _assemble(number: int, rule: Rule) -> list[tuple[int, int, int, int]]:
    body: list[tuple[int, int, int, int]] = []
    for test in rule.tests:
        body += [(_LOAD, 0, 0, _ARGS + 8 * test.argument + 4 * test.high), (_AND, 0, 0, test.mask)]
        opcode = _ANY_BIT if test.kind == "any bit" else _EQUAL
        # Jump targets are filled in below: -1 stands for "this rule does not apply".
        body.append((opcode, -1, 0, test.value) if test.kind == "is not" else (opcode, 0, -1, test.value))
    body.append((_RETURN, 0, 0, _ERRNO | rule.error))
    if rule.tests:
        body.append((_LOAD, 0, 0, _NR))
    reload = len(body) - 1
    placed = []
    for place, (opcode, yes, no, value) in enumerate(body):
        skip = reload - place - 1
        placed.append((opcode, skip if yes < 0 else yes, skip if no < 0 else no, value))
    return [(_EQUAL, 0, len(body), number), *placed]

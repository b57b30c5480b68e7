"""The filter is run here by an interpreter of its own; that the kernel agrees is shown by the hostile behaviours."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from sandbox import seccomp

ALLOWED, KILLED = "allowed", "killed"
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> str | int:
    """What the kernel would answer: allowed, killed, or an error number."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator, place = 0, 0
    while True:
        opcode, yes, no, value = code[place]
        place += 1
        if opcode == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif opcode == 0x54:
            accumulator &= value
        elif opcode in (0x15, 0x35, 0x45):
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[opcode]
            place += yes if holds else no
        else:
            assert opcode == 0x06
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(value, value & 0xFFFF)


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[False, True], ids=["namespaces", "shared"])
def shared(request: pytest.FixtureRequest) -> bool:
    return request.param


def answer(machine: str, shared: bool, name: str, *arguments: int) -> str | int:
    architecture, column = ARCHITECTURES[machine]
    number = seccomp._NUMBERS[name][column]
    number = seccomp._NUMBERS[name][0] if number == seccomp._SAME else number
    return decide(seccomp.program(shared, machine), architecture, number, *arguments)


@pytest.mark.parametrize("name", ["mount", "ptrace", "bpf", "keyctl", "unshare", "setns", "userfaultfd", "open_tree"])
def test_what_reaches_beyond_the_jail_is_forbidden(machine: str, shared: bool, name: str) -> None:
    assert answer(machine, shared, name) == errno.EPERM


@pytest.mark.parametrize("name", ["clone3", "io_uring_setup"])
def test_what_a_filter_cannot_see_through_is_absent(machine: str, shared: bool, name: str) -> None:
    assert answer(machine, shared, name) == errno.ENOSYS


def test_ordinary_calls_are_allowed(machine: str, shared: bool) -> None:
    program = seccomp.program(shared, machine)
    architecture, column = ARCHITECTURES[machine]
    named = {pair[0] if pair[column] == seccomp._SAME else pair[column] for pair in seccomp._NUMBERS.values()}
    ordinary = set(range(440)) - named
    assert len(ordinary) > 300
    assert all(decide(program, architecture, number) == ALLOWED for number in ordinary)


def test_another_architecture_is_killed(machine: str, shared: bool) -> None:
    program = seccomp.program(shared, machine)
    assert decide(program, 0x40000003, 1) == KILLED
    if machine == "x86_64":
        assert decide(program, ARCHITECTURES[machine][0], 0x40000000 | 1) == KILLED


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x01200011,), ALLOWED),  # what fork() asks for
        ("clone", (0x003D0F00,), ALLOWED),  # what pthread_create() asks for
        ("clone", (0x10000011,), errno.EPERM),  # a user namespace
        ("clone", (0x20000011,), errno.EPERM),
        ("clone", (0x00020011,), errno.EPERM),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("ioctl", (0, 0xFFFFFFFF_00005412), errno.EPERM),  # the kernel looks at the low half only
        ("mknodat", (0, 0, 0o010644), ALLOWED),  # a pipe
        ("mknodat", (0, 0, 0o020644), errno.EPERM),
        ("mknodat", (0, 0, 0o060644), errno.EPERM),
        ("personality", (0xFFFFFFFF,), ALLOWED),
        ("personality", (0x0040000,), errno.EPERM),
        ("prlimit64", (0, 7, 1), ALLOWED),
        ("prlimit64", (1, 7, 1), errno.EPERM),
        ("prlimit64", (0, 4, 0), ALLOWED),  # asks for the limit on core files
        ("prlimit64", (0, 4, 1), errno.EPERM),
        ("prlimit64", (0, 4, 1 << 32), errno.EPERM),
        ("socketpair", (1, 1), ALLOWED),
        ("socketpair", (2, 1), errno.EPERM),
    ],
)
def test_arguments_decide(
    machine: str, shared: bool, name: str, arguments: tuple[int, ...], expected: str | int
) -> None:
    assert answer(machine, shared, name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "with_namespaces", "without"),
    [
        ("socket", (1, 1), ALLOWED, errno.EPERM),
        ("socket", (2, 1), ALLOWED, errno.EPERM),
        ("socket", (10, 0x80001), ALLOWED, errno.EPERM),
        ("socket", (2, 0x80003), errno.EPERM, errno.EPERM),  # raw
        ("socket", (16, 3), errno.EAFNOSUPPORT, errno.EPERM),
        ("socket", (40, 1), errno.EAFNOSUPPORT, errno.EPERM),
        ("socketpair", (1, 2), ALLOWED, errno.EPERM),
        ("connect", (), ALLOWED, errno.EPERM),
        ("shmget", (), ALLOWED, errno.EPERM),
        ("fchmodat", (), ALLOWED, 0),
        ("fchmodat2", (), ALLOWED, 0),
        ("utimensat", (), ALLOWED, 0),
        ("setxattr", (), ALLOWED, errno.EOPNOTSUPP),
        ("setpriority", (0, 0), ALLOWED, ALLOWED),
        ("setpriority", (0, 1), ALLOWED, errno.EPERM),
        ("setpriority", (2, 0), ALLOWED, errno.EPERM),
        ("sched_setaffinity", (0,), ALLOWED, ALLOWED),
        ("sched_setaffinity", (1,), ALLOWED, errno.EPERM),
    ],
)
def test_without_namespaces_more_is_forbidden(
    machine: str, name: str, arguments: tuple[int, ...], with_namespaces: str | int, without: str | int
) -> None:
    assert answer(machine, False, name, *arguments) == with_namespaces
    assert answer(machine, True, name, *arguments) == without


def test_other_processors_are_refused() -> None:
    with pytest.raises(seccomp.Unsupported, match="riscv64"):
        seccomp.program(False, "riscv64")


@pytest.mark.parametrize(
    ("header", "column"),
    [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1)],
)
def test_the_numbers_are_the_kernels(header: str, column: int) -> None:
    try:
        text = Path(header).read_text()
    except OSError:
        pytest.skip("no kernel headers here")
    official = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)}
    for name, pair in seccomp._NUMBERS.items():
        number = pair[0] if pair[column] == seccomp._SAME else pair[column]
        if name in official:
            assert number == official[name], name
    assert sum(name in official for name in seccomp._NUMBERS) > 70

"""What a run in the jail is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MIB = 1 << 20


class Level(Enum):
    """How strong the jail is; every report names it."""

    BWRAP_ROOT = "L3 root: namespaces, dropped to an unprivileged uid"
    BWRAP_USER = "L3 user: namespaces in a user namespace"
    LANDLOCK = "L2: Landlock and seccomp, no namespaces"
    NONE = "L0: no jail (--no-sandbox)"


@dataclass(frozen=True)
class Limits:
    """Bounds of one run. Seconds, bytes, counts.

    `memory` is of all processes together, and of the data of each; `processes` counts threads too; `tree` and `inodes`
    are for all that the run writes: its tree, its temporary files, its shared memory.
    """

    wall_s: float = 60.0
    memory: int = 2048 * MIB
    processes: int = 512
    output: int = 1 * MIB
    tree: int = 1024 * MIB
    inodes: int = 200_000
    file: int = 256 * MIB
    descriptors: int = 1024


class Ending(Enum):
    """Why a run ended."""

    EXITED = "exited"
    TIMEOUT = "time limit"
    MEMORY = "memory limit"
    PROCESSES = "process limit"
    OUTPUT = "output limit"
    DISK = "disk limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Completed:
    """What came of one run. `stdout` and `stderr` are bounded, decoded, and free of control characters."""

    argv: tuple[str, ...]
    returncode: int | None
    stdout: str
    stderr: str
    seconds: float
    ending: Ending
    level: Level


class SandboxUnavailable(Exception):
    """No jail works here. The message says what was tried and how to fix it."""

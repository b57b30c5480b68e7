"""One run as it is handed to a rung of the ladder, and the process that the rung makes of it."""

from __future__ import annotations

import marshal
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sandbox.contract import Level, Limits
from sandbox.working_copy import WorkingCopy


@dataclass(frozen=True)
class Job:
    """`read_only` are paths outside, visible at the same place inside; `keep` are descriptors that stay open."""

    argv: tuple[str, ...]
    copy: WorkingCopy
    limits: Limits
    environment: Mapping[str, str]
    read_only: tuple[Path, ...]
    keep: tuple[int, ...]
    report: int


@dataclass(frozen=True)
class Command:
    """What to start: arguments for an empty environment, descriptors to hand over, and where things are."""

    argv: list[str]
    descriptors: tuple[int, ...]
    tree: Path
    watched: Path | None
    """A directory on the machine's own disk that has to be watched, where the rung cannot bound it."""
    counted: tuple[Path, ...] = field(default=())
    """Mount points inside whose inodes have to be watched, where the rung cannot bound them."""
    owned: tuple[int, ...] = field(default=())
    """Descriptors to close once the process runs."""


class Rung(Protocol):
    @property
    def level(self) -> Level: ...

    @property
    def namespaces(self) -> bool:
        """Whether killing the first process of the jail ends all the others."""
        ...

    def command(self, job: Job) -> Command: ...


def resource_limits(limits: Limits, processes: int | None) -> dict[str, int]:
    """The rlimits of a run. `processes` is the bound on the uid's processes and threads, None where it binds nobody.

    RLIMIT_DATA and not RLIMIT_AS: address space that is only reserved (torch, JIT compilers) costs nothing.
    """
    bounds = {
        "RLIMIT_DATA": limits.memory,
        "RLIMIT_FSIZE": min(limits.file, limits.tree),
        "RLIMIT_NOFILE": limits.descriptors,
        "RLIMIT_MEMLOCK": 1 << 20,
        "RLIMIT_MSGQUEUE": 1 << 20,
    }
    if math.isfinite(limits.wall_s):
        bounds["RLIMIT_CPU"] = math.ceil(limits.wall_s) + 1
    if processes is not None:
        bounds["RLIMIT_NPROC"] = processes
    return bounds


def stage(script: Path, plan: dict[str, Any], command: Sequence[str]) -> list[str]:
    """The command line that runs one of our own stages with our own interpreter, without site or environment."""
    return [interpreter(), "-I", "-S", str(script), marshal.dumps(plan).hex(), *command]


def interpreter() -> str:
    """The real path of the interpreter under our virtual environment."""
    return str(Path(sys.executable).resolve())

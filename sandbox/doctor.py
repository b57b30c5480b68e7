"""How strong the jail is on this machine: its level, what it restricts, and escapes from it tried against canaries."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox import landlock
from sandbox.bare import Bare
from sandbox.bwrap import Bwrap
from sandbox.contract import Level, SandboxUnavailable
from sandbox.hostile.behaviours import QUICK, Finding, examine
from sandbox.jail import Sandbox

_OPEN_ON_LANDLOCK = (
    "no loopback or unix sockets: tests that use them fail",
    "no pseudo-terminals (/dev/pts is not shared)",
    "no multiprocessing locks or pools, no shared memory (/dev/shm is not shared)",
    "modes, owners and times of files cannot be changed; changing them is silently without effect",
    "names, sizes and times of files outside can be seen, not their content",
    "the working copy is on disk, watched and capped rather than bounded",
)


@dataclass(frozen=True)
class Report:
    """What was found. `sound` says whether a jail works and every escape that was tried was contained."""

    level: Level | None
    backend: str = ""
    findings: tuple[Finding, ...] = ()
    restrictions: tuple[str, ...] = ()
    problem: str = ""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def escapes(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.leaks)

    @property
    def sound(self) -> bool:
        return self.level is not None and not self.escapes and not self.problem


def examine_machine(force: Level | None = None) -> Report:
    """Find the jail, then try to escape from it. Raises nothing: what fails is in the report."""
    facts = {"Landlock ABI": str(landlock.abi())}
    try:
        sandbox = Sandbox.detect(force)
    except SandboxUnavailable as refusal:
        return Report(None, problem=str(refusal), facts=facts)
    rung, backend = sandbox.rung, ""
    restrictions: tuple[str, ...] = ()
    if isinstance(rung, Bwrap):
        backend = rung.program
        facts["private /proc"] = "yes" if rung.proc else "no: this container forbids it; Landlock added"
        facts["tree"] = "tmpfs, size and inodes bounded" if rung.bounded else "tmpfs, size bounded, inodes watched"
    elif isinstance(rung, Bare):
        backend, restrictions = "Landlock and seccomp", _OPEN_ON_LANDLOCK
        facts["tree"] = "on disk, watched and capped"
    try:
        findings = tuple(examine(sandbox, QUICK))
    except (RuntimeError, OSError, SandboxUnavailable) as failure:
        return Report(sandbox.level, backend, (), restrictions, f"the escapes could not be tried: {failure}", facts)
    return Report(sandbox.level, backend, findings, restrictions, "", facts)

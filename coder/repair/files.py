"""Files as the repair sees them, whatever their language: Python by its own tree, others by tree-sitter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coder.patch import Proposal
from coder.repair import edits
from coder.repair.edits.base import Hints, Region
from coder.repair.languages.edits import FAMILIES
from coder.repair.languages.grammar import grammar_of
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Function, TreeSource
from coder.repair.library import Library
from coder.repair.scope import Scope
from coder.repair.source import FunctionNode, Source

AnySource = Source | TreeSource
AnyFunction = FunctionNode | Function
AnyRegion = Region | TreeRegion


def understood(path: str) -> bool:
    """Whether files of that name can be repaired here."""
    return path.endswith(".py") or grammar_of(path) is not None


def parse(path: str, text: str) -> AnySource:
    """Raises SyntaxError, ValueError or RecursionError when it cannot be read."""
    return Source(path, text) if path.endswith(".py") else TreeSource(path, text)


def region(
    source: AnySource, function: AnyFunction | None, lines: Mapping[int, float], hints: Hints, library: Library
) -> AnyRegion:
    """A function of a source, with the suspicion of its lines."""
    if isinstance(source, TreeSource):
        assert function is None or isinstance(function, Function)
        return TreeRegion.of(source, function, lines, hints)
    assert not isinstance(function, Function)
    return Region(source, function, Scope(source, function, library), lines, hints)


def propose(region: AnyRegion, cancelled: Callable[[], bool]) -> list[Proposal]:
    """Every single edit of a region, likeliest first."""
    if isinstance(region, TreeRegion):
        return edits.propose(region, cancelled, FAMILIES)
    return edits.propose(region, cancelled)

"""A region from a piece of code, and the texts that the edits of one family make of it."""

from __future__ import annotations

from coder.patch import apply_edits
from coder.repair.edits import propose
from coder.repair.edits.base import Hints, Region
from coder.repair.scope import Imports, Scope
from coder.repair.source import Source


def region_of(text: str, hints: Hints | None = None, library: Imports | None = None, name: str = "") -> Region:
    """The last function of `text` (or the named one), every line of it equally suspicious."""
    source = Source("module.py", text)
    functions = [function for function in source.functions() if not name or function.name == name]
    function = functions[-1] if functions else None
    lines = range(1, len(source.lines) + 1)
    if function is not None:
        lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return Region(source, function, Scope(source, function, library), dict.fromkeys(lines, 1.0), hints or Hints())


def made(region: Region, family: str = "") -> set[str]:
    """Every text that an edit (of the family) makes of the file."""
    return {
        apply_edits(region.source.text, proposal.edits)
        for proposal in propose(region)
        if not family or proposal.origin == family
    }

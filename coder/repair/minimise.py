"""A proved patch made smaller: edits that it does not need are taken out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from coder.patch import Edit, Proposal


def minimise(proposal: Proposal, passes: Callable[[Proposal], bool]) -> Proposal:
    """The proposal with no edit left that can be dropped. `passes` says whether what is left still passes."""
    kept: tuple[Edit, ...] = proposal.edits
    for edit in proposal.edits:
        fewer = tuple(other for other in kept if other is not edit)
        if fewer and passes(replace(proposal, edits=fewer)):
            kept = fewer
    return replace(proposal, edits=kept)

"""Edits of the tree, by family, each with its log-prior."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from coder.patch import Proposal
from coder.repair.edits import (
    calls,
    conditions,
    containers,
    donors,
    forms,
    literals,
    names,
    operands,
    operators,
    statements,
)
from coder.repair.edits.base import Draft
from coder.repair.edits.priors import SHARES

# Edits of one family in one region, at most: large functions would drown the rest.
MOST = 800
# The suspicion of lines that have none of their own, such as the later ones of a statement.
LEAST = 0.3
# Edits written before that choice, of all families of one module: where there are more, a file is mostly tables.
WRITTEN = 20_000


class Family(Protocol):
    """A module that writes the edits of some families."""

    def propose(self, region: Any) -> Iterator[Draft]: ...


_FAMILIES: Sequence[Family] = (
    operators, names, operands, literals, conditions, calls, containers, forms, statements, donors,
)  # fmt: skip


def propose(
    region: Any, cancelled: Callable[[], bool] = lambda: False, families: Sequence[Family] = _FAMILIES
) -> list[Proposal]:
    """Every single edit of a region, likeliest first. `cancelled` is asked all the time: a large region takes seconds.

    The prior of an edit is the logarithm of its family's share (`priors.SHARES`) times its weight within what the
    family offers in this region, so that a family with few edits to make stands before one with hundreds.
    """
    drafts: dict[str, list[Draft]] = defaultdict(list)
    for module in families:
        for draft in islice(module.propose(region), WRITTEN):
            if cancelled():
                return []
            drafts[draft.family].append(draft)
    found: dict[tuple, Proposal] = {}
    for family, members in drafts.items():
        total = sum(draft.weight for draft in members)
        for draft in sorted(members, key=lambda draft: -draft.weight * _suspicion(region, draft))[:MOST]:
            prior = math.log(SHARES[family] * draft.weight / total)
            known = found.get(draft.edits)
            if known is None or known.prior < prior:
                found[draft.edits] = Proposal(draft.edits, {}, family, prior, draft.note)
    return sorted(found.values(), key=lambda proposal: -proposal.prior)


def _suspicion(region: Any, draft: Draft) -> float:
    """The suspicion of the line that an edit begins in or follows."""
    line = region.source.line_of(draft.edits[0].span.start)
    return max(region.suspicion.get(line, 0.0), region.suspicion.get(line - 1, 0.0)) or LEAST

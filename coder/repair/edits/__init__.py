"""Edits of the tree, by family, each with its log-prior."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import islice

from coder.patch import Proposal
from coder.repair.edits import calls, conditions, containers, donors, literals, names, operators, statements
from coder.repair.edits.base import Draft, Region
from coder.repair.edits.priors import SHARES

# Edits of one family in one region, at most: large functions would drown the rest.
MOST = 800
# Edits written before that choice, of all families of one module: where there are more, a file is mostly tables.
WRITTEN = 20_000
_FAMILIES = (operators, names, literals, conditions, calls, containers, statements, donors)


def propose(region: Region, cancelled: Callable[[], bool] = lambda: False) -> list[Proposal]:
    """Every single edit of a region, likeliest first. `cancelled` is asked all the time: a large region takes seconds.

    The prior of an edit is the logarithm of its family's share (`priors.SHARES`) times its weight within what the
    family offers in this region, so that a family with few edits to make stands before one with hundreds.
    """
    drafts: dict[str, list[Draft]] = defaultdict(list)
    for module in _FAMILIES:
        for draft in islice(module.propose(region), WRITTEN):
            if cancelled():
                return []
            drafts[draft.family].append(draft)
    found: dict[tuple, Proposal] = {}
    for family, members in drafts.items():
        total = sum(draft.weight for draft in members)
        for draft in sorted(members, key=lambda draft: -draft.weight)[:MOST]:
            prior = math.log(SHARES[family] * draft.weight / total)
            known = found.get(draft.edits)
            if known is None or known.prior < prior:
                found[draft.edits] = Proposal(draft.edits, {}, family, prior, draft.note)
    return sorted(found.values(), key=lambda proposal: -proposal.prior)

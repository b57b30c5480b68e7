"""The choice among commands that were tried: those that do the same count together.

Commands with one effect and output form a cluster (self-consistency, Wang et al. 2022, arXiv:2203.11171, with what a
command does in the place of an answer's text). A cluster's weight is the sum of its members' exponentiated worth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from coder.shell.propose import Proposal
from coder.shell.trial import Outcome

SHARPNESS = 12.0  # how much worth counts against number
FAILED, SILENT, COMPLAINED = 0.3, 0.15, 0.15  # worth lost by exit status, by doing nothing visible, by errors


@dataclass(frozen=True)
class Cluster:
    """Commands that do the same, best first, and their share of all weight. `outcome` None: they were not run."""

    proposals: tuple[Proposal, ...]
    outcome: Outcome | None
    share: float


def clusters(proposals: Sequence[Proposal], outcomes: Sequence[Outcome | None]) -> list[Cluster]:
    """Heaviest first."""
    groups: dict[Hashable, list[tuple[float, Proposal, Outcome | None]]] = defaultdict(list)
    for proposal, outcome in zip(proposals, outcomes):
        key: Hashable = proposal.command if outcome is None or not outcome.acted else outcome.effect(keep_order=False)
        groups[key].append((proposal.worth - penalty(outcome), proposal, outcome))
    if not groups:
        return []
    top = max(worth for group in groups.values() for worth, _, _ in group)
    weighed = []
    for group in groups.values():
        group.sort(key=lambda member: -member[0])
        weight = sum(math.exp(SHARPNESS * (worth - top)) for worth, _, _ in group)
        weighed.append((weight, tuple(one for _, one, _ in group), group[0][2]))
    total = sum(weight for weight, _, _ in weighed)
    weighed.sort(key=lambda cluster: -cluster[0])
    return [Cluster(members, outcome, weight / total) for weight, members, outcome in weighed]


def penalty(outcome: Outcome | None) -> float:
    """What speaks against a command that was run; one that was not is only unproved."""
    if outcome is None:
        return SILENT
    lost = 0.0
    if outcome.returncode != 0:
        lost += FAILED
    if not outcome.acted:
        lost += SILENT
    if outcome.stderr.strip():
        lost += COMPLAINED
    return lost

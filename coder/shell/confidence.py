"""How likely an answer is right: a logistic regression over what speaks for it and against it.

Fitted on 47 questions (of NL2Bash, set aside, and of the first file system of InterCode) of which it was known what
the right command does (`benchmarks.intercode --aside` makes the table of how well it holds).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from coder.shell.choose import Cluster
from coder.shell.propose import TRAITS, Question, traits

SURE = 0.35  # below this no command is given that writes, or that could not be tried
GLANCE = 0.2  # below this none at all: what only reads is shown with its output, and a wrong one costs a glance
WEIGHTS: Mapping[str, float] = {
    "bias": -2.2, "share": 1.3, "likeness": 0.3, "does": 1.8, "missed": -0.7, "against": -1.0, "idle": -0.7,
}  # fmt: skip


def confidence(evidence: Mapping[str, float]) -> float:
    """The probability, in [0, 1], that a command with this evidence does what was meant."""
    return 1 / (1 + math.exp(-sum(WEIGHTS[name] * value for name, value in evidence.items())))


def evidence(question: Question, chosen: Cluster) -> dict[str, float]:
    """What is known of the cluster's first command.

    `share`: of the weight of all candidates. `against`: conditions and actions that are lacking, or were not asked for,
    and literals out of place. `idle`: it was run and did nothing visible, or failed, or was not run.
    """
    found = dict(zip(TRAITS, traits(question, chosen.proposals[0].candidate)))
    nearest = max((near.likeness for near in question.near[:1]), default=0.0)
    outcome = chosen.outcome
    return {
        "bias": 1.0,
        "share": chosen.share,
        "likeness": max(nearest, *(one.candidate.likeness for one in chosen.proposals)),
        "does": found["does"],
        "missed": found["missed"] + found["kept"] + found["foreign"],
        "against": sum(found[name] for name in ("lacking", "more", "undone", "overdone", "astray")),
        "idle": float(outcome is None or not outcome.acted or outcome.returncode != 0),
    }

"""What the listener hears of suspects and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from coder import events
from coder.patch import Proposal
from coder.repair.localise import Suspicion
from sandbox.testing.report import Verdict

SHOWN_SUSPECTS = 10


def localized(suspicions: Sequence[Suspicion], seconds: float) -> events.Localized:
    shown = [
        events.Suspect(s.path, max(s.lines, key=lambda n: s.lines[n]), s.function.name if s.function else "", s.score)
        for s in suspicions[:SHOWN_SUSPECTS]
    ]
    return events.Localized(tuple(shown), seconds)


def validation(proposal: Proposal, verdict: Verdict) -> events.Validation:
    return events.Validation(
        proposal.note,
        verdict.passed,
        len(verdict.fixed),
        len(verdict.still_passing),
        verdict.repeats,
        "" if verdict.passed else verdict.summary(),
    )

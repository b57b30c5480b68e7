"""What `--json` tells of a shell question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from coder.events import Event
from coder.shell.ask import Answer
from coder.shell.explain import Part
from coder.shell.preview import diff


@dataclass(frozen=True)
class ShellAnswer(Event):
    """An answer. `command` is empty when none is known well enough; `guess` is then what came nearest. `output` and
    `diff`: what it printed and changed on a copy, None where it was not run; `reason` says why."""

    type: ClassVar[str] = "shell_answer"
    command: str
    guess: str
    confidence: float
    effect: str
    reason: str
    explanation: tuple[Part, ...]
    output: str | None
    diff: str | None
    alternatives: tuple[str, ...]

    @classmethod
    def of(cls, answer: Answer, root: Path) -> ShellAnswer:
        """`root`: the files as they were before."""
        outcome = answer.outcome
        return cls(
            answer.command,
            answer.guess,
            round(answer.confidence, 3),
            answer.safety.effect.name.casefold(),
            answer.safety.reason,
            answer.explanation,
            outcome.stdout if outcome else None,
            diff(outcome, root) if outcome else None,
            answer.alternatives,
        )

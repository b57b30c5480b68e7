"""What must be true of a completion before it is shown. Silence is better than noise."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from coder.completion.names import unresolved
from coder.completion.situation import Situation
from coder.completion.syntax import parses
from coder.completion.trimming import trim
from coder.completion.writer import Draft


@dataclass(frozen=True)
class Shown:
    """The text to show; empty with the `reason` where there is none."""

    text: str
    reason: str = ""


def judge(draft: Draft, situation: Situation, threshold: float, modules: Collection[str] = ()) -> Shown:
    """The longest part of a draft that may be shown: to the end of the last token up to which the model is sure of the
    whole, and by whole lines where something else speaks against it."""
    sure = _sure_part(draft, threshold)
    text = trim(sure, situation)
    if not text.strip():
        return Shown("", "nothing new" if sure else "not sure enough")
    reason, whole = "", _ends_line(sure, draft) or text.count("\n") < sure.count("\n")
    while text.strip():
        reason = _objection(text, situation, whole, modules)
        if not reason:
            return Shown(text)
        text, whole = trim(text.rpartition("\n")[0], situation), True
    return Shown("", reason)


def _ends_line(part: str, draft: Draft) -> bool:
    """Whether the last line of a draft's beginning is all that the draft has of that line."""
    return draft.whole if len(part) == len(draft.text) else draft.text[len(part)] == "\n"


def _objection(text: str, situation: Situation, whole: bool, modules: Collection[str]) -> str:
    if not parses(situation, text, whole):
        return "does not parse"
    if unresolved(situation, text, modules):
        return "unknown names"
    return ""


def _sure_part(draft: Draft, threshold: float) -> str:
    """The text up to the last place where the geometric mean of all probabilities before reaches the threshold."""
    if draft.confidence() >= threshold and draft.whole:
        return draft.text
    return draft.text[: next((end for end in reversed(draft.ends) if draft.confidence(end) >= threshold), 0)]

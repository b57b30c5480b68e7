"""What must be true of a completion before it is shown. Silence is better than noise."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lsp.names import unresolved
from lsp.situation import Situation
from lsp.syntax import parses
from lsp.trimming import trim
from lsp.writer import Draft


@dataclass(frozen=True)
class Shown:
    """The text to show; empty with the `reason` where there is none."""

    text: str
    reason: str = ""


def judge(draft: Draft, situation: Situation, threshold: float, modules: Collection[str] = ()) -> Shown:
    """The longest part of a draft, by whole lines, that may be shown."""
    text = trim(_sure_lines(draft, threshold), situation)
    if not text.strip():
        return Shown("", "nothing new" if draft.confidence() >= threshold else "not sure enough")
    reason = ""
    while text.strip():
        whole = draft.whole or len(text) < len(draft.text)
        reason = _objection(text, situation, whole, modules)
        if not reason:
            return Shown(text)
        text = text.rpartition("\n")[0].rstrip()
    return Shown("", reason)


def _objection(text: str, situation: Situation, whole: bool, modules: Collection[str]) -> str:
    if not parses(situation, text, whole):
        return "does not parse"
    if unresolved(situation, text, modules):
        return "unknown names"
    return ""


def _sure_lines(draft: Draft, threshold: float) -> str:
    """The lines up to the first at whose end the model was no longer sure of the whole."""
    upto = 0
    for line in draft.text.split("\n"):
        end = upto + len(line)
        if draft.confidence(max(end, 1)) < threshold:
            return draft.text[: max(upto - 1, 0)]
        upto = end + 1
    return draft.text

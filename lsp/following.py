"""Completions that are known already: they follow what is typed, letter by letter.

Idea of the forwarding cache: Tabby's agent; of going on with a running generation: Continue.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from coder.completion.situation import Situation
from coder.completion.trimming import drop_suffix

SIZE = 200
_TAIL = 400  # characters around the cursor that are kept
_AGREE = 200  # characters on each side of the cursor that must agree
_LONGEST = 300  # characters that may have been typed since
_CLOSED = ")]}\"'`"  # what an editor may have closed as it was opened


@dataclass(frozen=True)
class Known:
    """What the model said at a place: the text (empty where it had nothing to show)."""

    before: str
    after: str
    text: str


class Following:
    """The latest completions by document. The least recently used are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], Known] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        self._known.clear()

    def put(self, situation: Situation, text: str) -> None:
        key = _key(situation)
        self._known[key] = Known(*key[1:], text)
        self._known.move_to_end(key)
        while len(self._known) > SIZE:
            self._known.popitem(last=False)

    def knows(self, situation: Situation) -> bool:
        """Whether the model said something at this very place, be it that there is nothing to show."""
        return _key(situation) in self._known

    def get(self, situation: Situation) -> str | None:
        """What is left to write here of a completion that was made here or before the last typed letters; empty where
        the model had nothing to say at this very place; None where nothing is known."""
        exact = self._known.get(_key(situation))
        if exact is not None:
            return exact.text
        behind = _behind(situation.after)
        for (uri, _, _), known in reversed(self._known.items()):
            if uri != situation.uri or not known.text or _behind(known.after) != behind:
                continue
            typed = typed_since(known.before, situation.before)
            if typed and len(typed) < len(known.text) and known.text.startswith(typed):
                left = _fitting(known.text[len(typed) :], known.after, situation)
                if left is not None:
                    return left
        return None


def typed_since(old: str, new: str) -> str | None:
    """What was typed behind `old` (a text up to the cursor) to make it `new`; None where something else changed. Both
    may have lost their beginnings."""
    if len(old) < _AGREE:
        return new[len(old) :] if new.startswith(old) and len(new) - len(old) <= _LONGEST else None
    at = new.rfind(old[-_AGREE:], max(0, len(new) - _AGREE - _LONGEST))
    return new[at + _AGREE :] if at >= 0 else None


def _key(situation: Situation) -> tuple[str, str, str]:
    return situation.uri, situation.before[-_TAIL:], situation.after[:_TAIL]


def _behind(after: str) -> str:
    """What must agree of a text behind a cursor."""
    return after.lstrip(_CLOSED)[:_AGREE]


def _fitting(text: str, after: str, situation: Situation) -> str | None:
    """What may be written here of a known text that had `after` behind it. Where the editor has closed something since,
    as it was opened: without the end that closes it too, and None where the text's line has no such end."""
    if situation.after[:_AGREE] == after[:_AGREE]:
        return text
    line = text.partition("\n")[0]
    fitting = drop_suffix(line, situation.line_after)
    return fitting if fitting != line else None

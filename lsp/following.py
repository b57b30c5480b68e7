"""Completions that are known already: they follow what is typed, letter by letter.

Idea of the forwarding cache: Tabby's agent; of going on with a running generation: Continue.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from lsp.situation import Situation

SIZE = 200
_TAIL = 400  # characters around the cursor that are kept
_AGREE = 200  # characters before the cursor that must agree
_LONGEST = 300  # characters that may have been typed since


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
        key = (situation.uri, situation.before[-_TAIL:], situation.after[:_TAIL])
        self._known[key] = Known(*key[1:], text)
        self._known.move_to_end(key)
        while len(self._known) > SIZE:
            self._known.popitem(last=False)

    def get(self, situation: Situation) -> str | None:
        """What is left to write here of a completion that was made here or before the last typed letters; empty where
        the model had nothing to say at this very place; None where nothing is known."""
        before, after = situation.before[-_TAIL:], situation.after[:_TAIL]
        exact = self._known.get((situation.uri, before, after))
        if exact is not None:
            return exact.text
        for (uri, _, _), known in reversed(self._known.items()):
            if uri != situation.uri or not known.text or not _same(known.after, after):
                continue
            typed = typed_since(known.before, situation.before)
            if typed and len(typed) < len(known.text) and known.text.startswith(typed):
                return known.text[len(typed) :]
        return None


def typed_since(old: str, new: str) -> str | None:
    """What was typed behind `old` (a text up to the cursor) to make it `new`; None where something else changed. Both
    may have lost their beginnings."""
    for count in range(min(len(new), _LONGEST) + 1):
        rest = new[: len(new) - count]
        if old.endswith(rest[-_AGREE:]) if len(rest) >= _AGREE else rest == old:
            return new[len(rest) :]
    return None


def _same(one: str, other: str) -> bool:
    """Whether two texts behind a cursor agree; an editor may have closed a bracket that was typed."""
    return one == other or one.startswith(other[: len(one)]) or other.startswith(one[: len(other)])

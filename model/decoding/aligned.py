"""Drafts of a text that rewrites another: what stands at the same place of the old text, with the changes made before
made again.

Prompt lookup (`model.decoding.ngram`) loses the old text at every change, until enough tokens agree again, and knows
nothing of what changed. This keeps the place across changes and remembers each of them: once `name` became `new_name`,
so it is drafted wherever `name` comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

REACH = 24  # old tokens that one change may replace
NEAR, FAR = 2, 4  # tokens that must agree to go on behind a change, and anywhere else in the old text


class _Change(NamedTuple):
    old: tuple[int, ...]
    new: tuple[int, ...]


class _Place(NamedTuple):
    """The text written so far corresponds to old[:at], but for `rest`, the end of `change` that is still to come.
    `change`: the known change that the last token is part of, or that left something out before it."""

    at: int
    rest: tuple[int, ...] = ()
    change: _Change | None = None


class AlignedDrafter:
    """Follows `context`, and what is appended to it, along `old`."""

    def __init__(self, old: Sequence[int], context: Sequence[int]) -> None:
        self._old = tuple(old)
        self._ends = {self._old[at - FAR : at]: at for at in range(FAR, len(old))}  # the latest occurrence stands
        self._place = _Place(0)
        self._parted: list[int] = []  # what was written since the texts parted; empty while they go together
        self._changes: dict[int, _Change] = {}  # by their first old token; the latest stands
        for token in context:
            self.append(token)

    def append(self, token: int) -> None:
        """The text went on with `token`."""
        step = None if self._parted else self._next(self._place)
        if step is not None and step[0] == token:
            self._place = step[1]
        elif step is not None and (change := step[1].change) is not None:  # not made again
            self._changes.pop(change.old[0], None)
            self._place = _Place(self._place.at)
            self.append(token)
        else:
            self._parted.append(token)
            self._rejoin()

    def propose(self, width: int) -> list[int]:
        """Up to `width` draft tokens; none while the texts have parted."""
        drafts: list[int] = []
        place = self._place
        while not self._parted and len(drafts) < width and (step := self._next(place)) is not None:
            drafts.append(step[0])
            place = step[1]
        return drafts

    def _next(self, place: _Place) -> tuple[int, _Place] | None:
        """The token that is expected at `place`, and the place behind it; None at the end of the old text."""
        at, rest, change = place if place.rest else _Place(place.at)
        while not rest:
            if at == len(self._old):
                return None
            known = self._changes.get(self._old[at])
            if known is None or self._old[at : at + len(known.old)] != known.old:
                return self._old[at], _Place(at + 1, (), change)
            at, rest, change = at + len(known.old), known.new, known
        return rest[0], _Place(at, rest[1:], change)

    def _rejoin(self) -> None:
        """Where the last tokens agree with the old text again, go on there."""
        at, parted = self._place.at, tuple(self._parted)
        ahead = self._old[at : at + REACH + NEAR]
        for skipped in range(len(ahead) - NEAR + 1 if len(parted) >= NEAR else 0):
            if ahead[skipped : skipped + NEAR] == parted[-NEAR:]:
                self._learn(self._old[:at], ahead[:skipped], parted[:-NEAR])
                self._go_on(at + skipped + NEAR)
                return
        if len(parted) >= FAR and (end := self._ends.get(parted[-FAR:])) is not None:
            self._go_on(end)

    def _learn(self, before: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]) -> None:
        if not old:  # what was only added is known by the token before it
            old, new = before[-1:], before[-1:] + new
        if old:
            self._changes[old[0]] = _Change(old, new)

    def _go_on(self, at: int) -> None:
        self._place, self._parted = _Place(at), []

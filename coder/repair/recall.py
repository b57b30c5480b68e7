"""What the model has read when it writes at a place: what the task needs, then the file up to there.

A text is read once. From then on the state at any place of it is a step back from its end where the model can go back,
else a step on from the nearest state that is remembered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coder.reading import heading

if TYPE_CHECKING:
    from coder.reading import Progress, Read

BEHIND = 8
"""Tokens before a place that are read anew: the model wants to predict from a row that it just computed, and the last
ones may be cut differently there."""
_KEPT = 8  # states of a model that cannot go back

Steps = Callable[[Any, Any, Sequence[str]], "Generator[Progress, None, Read]"]
"""Reads what a repair needs for a model and its tokenizer; the paths are suspects, the likeliest first."""


@dataclass(frozen=True)
class Place:
    """The state somewhere before a place (None: the model's start), and the text between there and the place."""

    state: Any
    text: str


@dataclass
class Recall:
    """A model that read `head`, then `text`, which begins at the offset `low` of its file. `ids` and `ends` are tokens
    of head and text together, and where each ends; `end` is the state after all, `before` the one in front of them
    (None where it is not known)."""

    model: Any
    head: str
    text: str
    low: int
    ids: Sequence[int]
    ends: Sequence[int]
    end: Any
    before: Any
    _states: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, tokenizer: Any, text: str, read: Read) -> Recall | None:
        """Of the last file of a reading, which has `text` now; None where that is not what was read."""
        head = heading(read.files[-1].path)
        ids, ranges = tokenizer.offsets(head + text)
        if tuple(ids) != read.last:
            return None
        return cls(model, head, text, 0, ids, [end for _, end in ranges], read.state, read.before)

    @classmethod
    def now(cls, model: Any, tokenizer: Any, head: str, text: str, low: int) -> Recall:
        """Reads head and text."""
        ids, ranges = tokenizer.offsets(head + text)
        before = model.start()
        _, end = model.commit(ids, before, rows=slice(0, 0))
        return cls(model, head, text, low, ids, [end for _, end in ranges], end, before)

    def at(self, offset: int) -> Place | None:
        """What was read a little before an offset of the file; None where that cannot be had."""
        inside = len(self.head) + offset - self.low
        count = min(bisect_right(self.ends, inside), len(self.ids)) - BEHIND
        if count <= 0:
            return None
        state = self._state(count)
        return None if state is None else Place(state, (self.head + self.text)[self.ends[count - 1] : inside])

    def _state(self, count: int) -> Any:
        model = self.model
        if hasattr(model, "rewind"):
            try:
                return model.rewind(self.end, model.position(self.end) - len(self.ids) + count)
            except ValueError:
                pass  # it was evicted, or a memory has taken it up
        if self.before is None:
            return None
        known = max((at for at in self._states if at <= count), default=0)
        state = self._states.get(known, self.before)
        if known < count:
            _, state = model.commit(self.ids[known:count], state, rows=slice(0, 0))
            self._states[count] = state
            while len(self._states) > _KEPT:
                del self._states[next(iter(self._states))]
        return state

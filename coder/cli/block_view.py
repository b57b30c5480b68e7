"""A block while it fills in, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from sandbox.text import clean

if TYPE_CHECKING:
    from model.decoding.request import Denoised, Event

_KEPT_LINES = 12


class BlockView:
    """What is settled in plain, the open block behind it: masks as dots, guesses from red (unsure) to green (sure)."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._settled = ""
        self._written = 0
        self._begin = 0
        self._block: Denoised | None = None

    def take(self, event: Event) -> None:
        from model.decoding.request import Denoised, Settled

        if isinstance(event, Denoised):
            if event.step == 1:
                self._begin = self._written
            self._block = event
        elif isinstance(event, Settled):
            self._settled += event.text
            self._written += len(event.tokens)

    def __rich__(self) -> Text:
        shown = Text(clean("\n".join(self._settled.split("\n")[-_KEPT_LINES:])))
        if self._block is None:
            return shown
        done = self._written - self._begin
        rows = zip(self._block.tokens, self._block.masked, self._block.confidence, strict=True)
        for token, masked, confidence in list(rows)[done:]:
            if masked:
                shown.append("·", style="dim")
            else:
                colour = "green" if confidence >= 0.9 else "yellow" if confidence >= 0.5 else "red"
                shown.append(clean(self._tokenizer.decode([token])), style=colour)
        return shown

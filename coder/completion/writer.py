"""Writes completions with the local model: token-healed, greedy, drafts verified, stopped where the completion ends.

Lives in one thread. Cancelling is looked at between the model's passes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.completion.knowledge import Knowledge
from coder.completion.prompt import Prompt
from coder.completion.situation import Situation
from coder.completion.snapshots import Snapshots
from coder.completion.stopping import Extent

if TYPE_CHECKING:
    from model.memory_store import MemoryStore

READ_AT_ONCE = 64  # tokens that take hardly longer than one
WITH_FIRST = 8  # unread tokens that are read in the pass that writes the first one
SURE = 0.7  # how sure (see Draft.confidence) a line must be for an extent that asks for sure lines
_SURE_TOKEN = 0.3  # and each token of a further line
_OPEN_WORD = re.compile(r"\w+\Z")
RECENT = 76  # tokens that the cache may look back on


@dataclass(frozen=True)
class Piece:
    """The half-open range of characters [start, end) of a text that one token wrote, and the token's probability."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Draft:
    """A text for the cursor and how sure the model was of its parts. `whole`: it ended by itself, not at a limit."""

    text: str
    pieces: tuple[Piece, ...]
    whole: bool

    @property
    def ends(self) -> list[int]:
        """Where the text may be cut: behind each token that neither ends within a word nor is the last one's part."""
        ends = sorted({min(piece.end, len(self.text)) for piece in self.pieces} - {0})
        return [end for end in ends if not _in_word(self.text, end)]

    def closed(self) -> Draft:
        """Without a word at the end, which may go on where the text did not end by itself."""
        return self if self.whole else replace(self, text=_OPEN_WORD.sub("", self.text))

    def whole_lines(self) -> Draft:
        """Without the last of several lines where that is still open."""
        above, newline, _ = self.text.rpartition("\n")
        return replace(self, text=above, whole=True) if newline and not self.whole else self

    def sure_lines(self) -> Draft:
        """Up to the first whole line that the model is less than SURE of: that one is kept only as the first."""
        lines = self.text.split("\n")
        start = 0
        for number, line in enumerate(lines if self.whole else lines[:-1]):
            end = start + len(line)
            if self.confidence(end + 1, start) < SURE:
                return replace(self, text=self.text[: start - 1 if number else end], whole=True)
            start = end + 1
        return self

    def confidence(self, upto: int | None = None, start: int = 0) -> float:
        """The geometric mean of the probabilities of the tokens that begin in characters start:upto; 0 if none do."""
        limit = len(self.text) if upto is None else upto
        logs = [math.log(max(piece.probability, 1e-9)) for piece in self.pieces if start <= piece.start < limit]
        return math.exp(sum(logs) / len(logs)) if logs else 0.0


class Writer:
    """A model with what it has read, and what the workspace says."""

    def __init__(self, model: Any, tokenizer: Any, knowledge: Knowledge) -> None:
        from model.decoding.healing import speller_of
        from model.threads import Threads

        self.tokenizer = tokenizer
        self.knowledge = knowledge
        self._model = model
        self._snapshots = Snapshots(model)
        self._threads = Threads()
        speller_of(tokenizer)  # made now, not at the first keystroke

    def clear(self) -> None:
        """Forgets what was read."""
        self._snapshots.clear()

    def resume(self, store: MemoryStore, root: Path, path: str, text: str) -> None:
        """Goes on from what another command has read of a file, if any has."""
        from coder.resuming import resume

        found = resume(store, root, self._model, self.tokenizer, path, text)
        if found is not None:
            self._snapshots.adopt(found.tokens, found.states)

    def read(self, prompt: Prompt, cancel: Any) -> None:
        """Reads ahead: a later completion below or in this text begins with less to read."""
        tokens = self._tokens(prompt)[0]
        if tokens:
            self._threads.fit()
            self._snapshots.read(tokens[:-1], cancel)

    def write(
        self,
        prompt: Prompt,
        situation: Situation,
        extent: Extent,
        max_tokens: int,
        cancel: Any,
        heard: Callable[[Draft], None] = lambda draft: None,
        variant: int = 0,
        floor: float = 0.0,
    ) -> Draft | None:
        """The completion at the prompt's end; None where cancelled or where there is nothing to go on from.

        `heard` is told the draft so far after each step. Variants above 0 are other texts, sampled. Writing ends before
        a token that the model gives less than `floor`: what follows would be a guess built on a guess.
        """
        from model.decoding import draft_verify
        from model.decoding.request import Finished, Generation, Reason, Settled
        from model.repository_cache import CachedModel, CachedState

        tokens, forced = self._tokens(prompt)
        if not tokens:
            return None
        self._threads.fit()
        below = situation.after[len(situation.line_after) + 1 :]
        # Without the last line's end: it would say how this very place goes on, cut off from its indentation.
        above = situation.before[: len(situation.before) - len(situation.line_before)].rstrip()
        self.knowledge.focus(situation.name, (above, below), self.tokenizer.encode)
        missing = self._snapshots.missing(tokens[:-1])
        unread = min(missing + 1 if missing < WITH_FIRST else 1, len(tokens))
        read = tokens[:-unread]
        state = self._snapshots.read(read, cancel) if read else self._model.start()
        if state is None:
            return None
        request = Generation(
            tokens[-unread:],
            max_tokens + len(forced),
            begin=forced.encode(),
            solid=not situation.line_before.strip(),
            temperature=0.7 if variant else 0.0,
            top_p=0.9,
            seed=variant,
            start=CachedState(state, tuple(read[-RECENT:])),
            cancel=cancel,
        )
        typed = _Typed(forced, self.tokenizer)
        for event in draft_verify.generate(CachedModel(self._model, self.knowledge), self.tokenizer, request):
            if isinstance(event, Settled):
                further = extent.sure and "\n" in typed.text
                if min(event.confidence, default=1.0) < (_SURE_TOKEN if further else floor):
                    draft = typed.draft(extent.cut(typed.text)[0], False)
                    goes_on = _OPEN_WORD.search(self.tokenizer.decode(event.tokens)[:1])
                    return draft.whole_lines() if further else draft.closed() if goes_on else draft
                typed.add(event.tokens, event.confidence)
                draft, ended = typed.within(extent)
                if ended:
                    return draft
                heard(draft)
            elif isinstance(event, Finished):
                if event.reason is Reason.CANCELLED:
                    return None
                return typed.within(extent, event.reason is Reason.STOP)[0]
        return None

    def _tokens(self, prompt: Prompt) -> tuple[list[int], str]:
        """The prompt's tokens up to where one surely ends, and the text that must be spelled from there. Of a prompt
        that is mostly unread, a shorter one that is mostly read is taken."""
        from model.decoding.healing import cut_back

        kept, forced = cut_back(prompt.text)
        tokens = self.tokenizer.encode(kept)
        missing = self._snapshots.missing(tokens)
        if missing > READ_AT_ONCE:
            for shorter in prompt.shorter:
                other, end = self._tokens(shorter)
                if other and self._snapshots.missing(other) < min(missing, len(other)) / 4:
                    return other, end
        return tokens, forced


def _in_word(text: str, at: int) -> bool:
    """Whether an offset lies between two signs of one word."""
    return 0 < at < len(text) and all(sign.isalnum() or sign == "_" for sign in text[at - 1 : at + 1])


class _Typed:
    """The text behind the forced beginning, as tokens bring it."""

    def __init__(self, forced: str, tokenizer: Any) -> None:
        self._skip = len(forced.encode())
        self._tokenizer = tokenizer
        self._spelled = b""
        self._marks: list[tuple[int, int, float]] = []

    @property
    def text(self) -> str:
        """Whole characters only."""
        data = self._spelled[self._skip :]
        text = data.decode("utf-8", "replace")
        return text.rstrip("\ufffd") if data[-1:] >= b"\x80" else text

    def add(self, tokens: Sequence[int], confidence: Sequence[float]) -> None:
        for token, probability in zip(tokens, confidence):
            start = len(self._spelled)
            self._spelled += self._tokenizer.token_bytes(token)
            self._marks.append((start - self._skip, len(self._spelled) - self._skip, probability))

    def within(self, extent: Extent, whole: bool = False) -> tuple[Draft, bool]:
        """What an extent admits of the text, and whether nothing more can come. `whole`: the model ended it."""
        text, ended = extent.cut(self.text, whole)
        draft = self.draft(text, ended or whole)
        if not extent.sure:
            return draft, ended
        sure = draft.sure_lines()
        return sure.whole_lines(), ended or sure is not draft

    def draft(self, text: str, whole: bool) -> Draft:
        data = self._spelled[self._skip :]
        plain = data.isascii()  # nearly always, and then a byte is a character

        def characters(count: int) -> int:
            return max(count, 0) if plain else len(data[: max(count, 0)].decode("utf-8", "ignore"))

        pieces = (Piece(characters(a), characters(b), p) for a, b, p in self._marks if b > 0)
        return Draft(text, tuple(piece for piece in pieces if piece.start < max(len(text), 1)), whole)

"""What a decoder is asked for and the events that it answers with."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from model.protocol import BlockModel, Tokenizer

if TYPE_CHECKING:
    from model.decoding.grammar import Grammar

PASS = 512  # tokens that are read between two looks at the flag


class Cancel(Protocol):
    """A flag that another thread may raise; decoders look at it between passes. `threading.Event` is one."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True)
class Generation:
    """One request for text.

    prompt: ids to continue, at least one.
    max_tokens: bound on the ids that are written; the end token is not counted.
    begin: what the text must begin with, as part of it: the end of a prompt that was cut back to where a token surely
    ends (`model.decoding.healing`). solid: what comes behind it must not be white space, as behind the indentation that
    a user chose.
    stop: the text ends before the first of these strings. Inside a grammar they do nothing: they could cut it open.
    ends: ids that end the text besides those of the tokenizer. Under a grammar they do so where the text is whole.
    temperature: 0 takes the likeliest token. top_p: nucleus, (0, 1]. seed: same seed, same text, whatever was drafted.
    grammar: what the text must match. It always does when generation ends, except when it was cancelled.
    sources: texts (as ids) that the output may copy from or rewrites, best first: drafts, which change no output.
    start: a state that has read everything before `prompt`; None for the model's fresh one. behind: the last tokens
    that it has read, as far as drafts should know them.

    Raises ValueError for values outside their range.
    """

    prompt: Sequence[int]
    max_tokens: int = 256
    begin: bytes = b""
    solid: bool = False
    stop: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    grammar: Grammar | None = None
    sources: tuple[Sequence[int], ...] = ()
    start: Any = None
    behind: Sequence[int] = ()
    cancel: Cancel = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        if not self.prompt:
            raise ValueError("the prompt is empty: give at least one token to continue")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature must be a number and not negative, but is {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], but is {self.top_p}")
        if any(not text for text in self.stop):
            raise ValueError("a stop string is empty")
        if (self.begin or self.solid) and self.grammar is not None:
            raise ValueError("a grammar already says how the text begins")


class Reason(Enum):
    """Why the text ended."""

    STOP = "stop"
    LENGTH = "length"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Settled:
    """Tokens that will not change any more, and text that is certain by now (it may lag behind the tokens: a character
    can span tokens, and what might become a stop string is held back). `confidence` [T]: the probability that the model
    gave each token among those that were allowed there, where the decoder tells it."""

    tokens: tuple[int, ...]
    text: str
    confidence: tuple[float, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Denoised:
    """A block after one denoising step, for display. All three run over the block's positions."""

    step: int
    tokens: tuple[int, ...]
    masked: tuple[bool, ...]
    confidence: tuple[float, ...]


@dataclass(frozen=True)
class Finished:
    """The last event.

    tokens: how many were written. passes: forwards of the model after the prompt was read. drafted, accepted: draft
    tokens that were verified, and those among them that stood. closed: the grammar's shortest way to an end was taken
    because max_tokens came near.
    """

    reason: Reason
    tokens: int
    passes: int
    drafted: int = 0
    accepted: int = 0
    closed: bool = False


Event = Settled | Denoised | Finished


class Decoder(Protocol):
    """What every module of `model.decoding` offers as `generate` (its own options bound)."""

    def __call__(self, model: BlockModel[Any], tokenizer: Tokenizer, request: Generation, /) -> Iterator[Event]: ...


def read(model: BlockModel[Any], tokens: Sequence[int], state: Any, cancel: Cancel) -> Any | None:
    """The state after reading `tokens` in passes of PASS; None when cancelled on the way."""
    for begin in range(0, len(tokens), PASS):
        if cancel.is_set():
            return None
        _, state = model.commit(list(tokens[begin : begin + PASS]), state, rows=slice(0, 0))
    return state


def text_of(events: Iterator[Event]) -> tuple[str, Finished]:
    """Runs a decoder to its end: the whole text, and how it ended."""
    parts: list[str] = []
    for event in events:
        if isinstance(event, Settled):
            parts.append(event.text)
        elif isinstance(event, Finished):
            return "".join(parts), event
    raise RuntimeError("the decoder ended without saying so")

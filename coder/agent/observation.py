"""What a tool gives back, made fit for a model: bounded, without secrets, and marked as nobody's instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

MOST = 16_000


class Standing(Enum):
    """What became of a call. REFUSED: it was not made."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True)
class Observation:
    """`text` is for the model, and in full; `note` is one line for people."""

    standing: Standing
    text: str
    note: str = ""


def bounded(text: str, most: int = MOST) -> str:
    """`text`, or its beginning and its end and how much was left out between them."""
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most // 3
    cut = len(text) - head - tail
    return f"{text[:head]}\n[... {cut:,} characters left out ...]\n{text[-tail:]}"


def encodable(text: str) -> str:
    """`text` with "?" for each half of a surrogate pair: JSON can hold these, and no encoding of text does."""
    return text.encode("utf-8", "replace").decode("utf-8")


def marked(observation: Observation, redact: Callable[[str], str], mark: str) -> str:
    """The observation as it goes into the conversation, between two lines that hold `mark`, which no file can know."""
    text = bounded(redact(observation.text))
    return f"{observation.standing.value}\n<data {mark}>\n{text}\n</data {mark}>"

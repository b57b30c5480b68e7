"""Token healing: a prompt is cut back to where a token surely ends, and writing begins with what was cut off.

A tokenizer merges a newline with the indentation behind it, and a space with the word behind it. A prompt that ends
within such a token shows the model a cut that it never saw in training. Idea: https://github.com/guidance-ai/guidance.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import lru_cache

import torch

from model.protocol import Tokenizer
from model.surrogates import LONE

# The last word, the last run of signs, or nothing, and all white space around it
_OPEN_END = re.compile(r"\s*(?:\w+|[^\w\s]+)?\s*\Z")
_TRAILING_SPACE = re.compile(r"\s+\Z")
_BLANK = re.compile(rb"\s")
_LONGEST = 120  # characters; a longer run is an ornament or data, where the cut matters little


def cut_back(text: str) -> tuple[str, str]:
    """Splits a prompt into what surely ends with a token and what the first new tokens must spell.

    White space at the end is cut off alone: what stands before it is whole. Else the last word or run of signs is cut
    off with the space before it, for what follows may belong to it. A lone surrogate cannot be spelled anew: nothing is
    cut off then.
    """
    found = _TRAILING_SPACE.search(text, max(0, len(text) - _LONGEST)) or _OPEN_END.search(
        text, max(0, len(text) - _LONGEST)
    )
    at = found.start() if found and not LONE.search(text, found.start()) else len(text)
    return text[:at], text[at:]


class Speller:
    """Which tokens may come next when the text must begin with given bytes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        spelled = [(tokenizer.token_bytes(token), token) for token in range(tokenizer.vocabulary)]
        spelled = sorted(pair for pair in spelled if pair[0])
        self._bytes = [piece for piece, _ in spelled]
        self._ids = torch.tensor([token for _, token in spelled])
        blank = defaultdict(list)
        for piece, token in spelled:
            for found in _BLANK.finditer(piece):
                blank[found.start()].append(token)
        self._blank = {skipped: torch.tensor(tokens) for skipped, tokens in blank.items()}

    def allowed(self, rest: bytes) -> torch.Tensor:
        """Tokens [N] that spell a beginning of `rest`, or `rest` and more. Never empty where every byte has a token."""
        found = []
        for size in range(1, len(rest)):
            start = rest[:size]
            found.append(self._ids[bisect_left(self._bytes, start) : bisect_right(self._bytes, start)])
        found.append(self._ids[bisect_left(self._bytes, rest) : bisect_left(self._bytes, _behind(rest))])
        return torch.cat(found)

    def blank(self, skipped: int) -> torch.Tensor:
        """Tokens [N] that have white space behind their first `skipped` bytes."""
        return self._blank.get(skipped, self._ids[:0])


def _behind(start: bytes) -> bytes:
    """The least text that is behind all that begin with `start` in the order of bytes; `start` holds a byte of UTF-8,
    none of which is 255."""
    return start[:-1] + bytes([start[-1] + 1])


def speller_of(tokenizer: Tokenizer) -> Speller:
    """The tokenizer's speller; made once, in a tenth of a second for 50,000 tokens."""
    return _speller(tokenizer)  # type: ignore[arg-type]


_speller = lru_cache(maxsize=2)(Speller)


def advance(rest: bytes, spelled: bytes) -> bytes:
    """What must still be spelled after these bytes."""
    return rest[len(spelled) :]

"""Drafts that cost no model: what followed the same few tokens earlier (prompt lookup).

Saxena, "Prompt Lookup Decoding" (2023), made incremental and extended to several texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SHORTEST, LONGEST = 2, 8


class _Text:
    """One text and, for every n-gram in it, where its latest occurrence ended."""

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        self.tokens: list[int] = []
        self._ends: dict[tuple[int, ...], int] = {}
        for token in tokens:
            self.append(token)

    def append(self, token: int) -> None:
        # N-grams are entered when something follows them, so that a text's own end never finds itself.
        at = len(self.tokens)
        for n in range(SHORTEST, min(LONGEST, at) + 1):
            self._ends[tuple(self.tokens[at - n :])] = at
        self.tokens.append(token)

    def after(self, gram: tuple[int, ...], width: int) -> list[int]:
        at = self._ends.get(gram)
        return [] if at is None else self.tokens[at : at + width]


class NgramDrafter:
    """Proposes what followed the longest suffix of the output's context that occurs in one of the texts.

    Of equally long matches the one in the earlier of `sources` wins; the context itself (prompt and output) comes last.
    """

    def __init__(self, sources: Sequence[Sequence[int]], context: Sequence[int]) -> None:
        self._context = _Text(context)
        self._texts = [*map(_Text, sources), self._context]

    def append(self, token: int) -> None:
        """The output went on with `token`."""
        self._context.append(token)

    def propose(self, width: int, shortest: int = SHORTEST) -> list[int]:
        """Up to `width` draft tokens; none where no suffix of at least `shortest` tokens matches."""
        context = self._context.tokens
        for n in range(min(LONGEST, len(context)), shortest - 1, -1):
            gram = tuple(context[-n:])
            for text in self._texts:
                if drafts := text.after(gram, width):
                    return drafts
        return []

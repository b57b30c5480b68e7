"""What a repository says next: an n-gram cache over all its tokens, mixed into a model's own distribution.

A cache (Kuhn and De Mori, 1990) with the longest match first, as in infini-gram (https://arxiv.org/abs/2401.17377).
Code repeats the names and phrases of its own repository, and a small model cannot know them. Shape letters: T rows, V
vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch

from model.protocol import Block, BlockModel, Rewindable

ORDERS = (12, 8, 6, 4, 3, 2)  # lengths of context that are looked up, longest first
# How much a match is believed, by its order and by how often it was seen (once, twice, three times or more), when all
# of its continuations agree; and when they differ. Fitted on the validation packages by `benchmarks.sprig_memory`.
AGREED = {
    12: (0.78, 0.92, 0.92),
    8: (0.50, 0.56, 0.72),
    6: (0.36, 0.42, 0.66),
    4: (0.24, 0.40, 0.58),
    3: (0.12, 0.16, 0.26),
    2: (0.06, 0.08, 0.16),
}
DIFFERED = {12: 0.62, 8: 0.28, 6: 0.18, 4: 0.12, 3: 0.10, 2: 0.04}
_SAMPLE = 4096  # followers of one context that are counted at most: two common tokens in a large repository have many
_WORTH = 0.1  # a draft that stands this often pays for the row that verifies it (a fifteenth of a pass in int8)
_REWIND = 64  # tokens that a state can forget at most
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Match:
    """What followed a context: ids [C] and their shares [C] (sum 1) of the times `seen` that its last `order` tokens
    were."""

    tokens: np.ndarray
    shares: np.ndarray
    order: int
    seen: int

    @property
    def trust(self) -> float:
        """How much to believe it, 0 to 1."""
        if len(self.tokens) > 1:
            return DIFFERED[self.order]
        return AGREED[self.order][min(self.seen, 3) - 1]


class RepositoryCache:
    """Texts by name; each is a sequence of ids. Adding a name again replaces its text. Lookups build the index anew
    when texts have changed since the last one (about 0.1 s for a million tokens and order)."""

    def __init__(self) -> None:
        self._texts: dict[str, np.ndarray] = {}
        self._index: dict[int, tuple[np.ndarray, np.ndarray]] | None = None

    def __len__(self) -> int:
        return sum(map(len, self._texts.values()))

    def add(self, name: str, tokens: Sequence[int] | np.ndarray) -> None:
        self._texts[name] = np.asarray(tokens, np.int64)
        self._index = None

    def find(self, context: Sequence[int]) -> Match | None:
        """The longest match of the end of `context`, or None where not even two tokens occur."""
        index = self._built()
        for order in ORDERS:
            if len(context) < order or order not in index:
                continue
            hashes, followers = index[order]
            key = _hash(tuple(context[-order:]))
            low = hashes.searchsorted(key)
            if low < len(hashes) and hashes[low] == key:
                high = hashes.searchsorted(key, "right")
                seen = int(high - low)
                counted = followers[low : high : -(-seen // _SAMPLE)]
                tokens, counts = np.unique(counted, return_counts=True)
                return Match(tokens, counts / len(counted), order, seen)
        return None

    def _built(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """For each order, the sorted hashes of all contexts and the token that followed each."""
        if self._index is None:
            self._index = {}
            for order in ORDERS:
                long = [text for text in self._texts.values() if len(text) > order]
                if long:
                    hashes = np.concatenate([_hashes(text[:-1], order) for text in long])
                    followers = np.concatenate([text[order:] for text in long])
                    by_hash = np.argsort(hashes, kind="stable")
                    self._index[order] = hashes[by_hash], followers[by_hash]
        return self._index


def _hashes(ids: np.ndarray, order: int) -> np.ndarray:
    """A 64-bit hash of every run of `order` ids."""
    count = len(ids) - order + 1
    total = np.zeros(count, np.uint64)
    for place in range(order):
        total = (total ^ (ids[place : place + count].astype(np.uint64) + np.uint64(1))) * _PRIME
        total ^= total >> np.uint64(29)
    return total


@lru_cache(maxsize=256)
def _hash(ids: tuple[int, ...]) -> np.uint64:
    """What `_hashes` has for one run. Kept, for one context is looked up in several caches at once."""
    total = 0
    for token in ids:
        total = (total ^ (token + 1)) * int(_PRIME) % (1 << 64)
        total ^= total >> 29
    return np.uint64(total)


def mix(logits_V: torch.Tensor, match: Match | None) -> torch.Tensor:
    """Log-probabilities [V]: the model's share is 1 - trust, the cache's is trust."""
    own_V = logits_V.float().log_softmax(-1)
    if match is None:
        return own_V
    mixed_V = own_V.exp() * (1 - match.trust)
    mixed_V[torch.from_numpy(match.tokens)] += torch.from_numpy(match.shares * match.trust).to(mixed_V.dtype)
    return mixed_V.log()


class Finder(Protocol):
    """Whatever finds the continuation of a context: a `RepositoryCache`, or several as one."""

    def find(self, context: Sequence[int]) -> Match | None: ...


@dataclass(frozen=True)
class CachedState:
    """The model's state, and the last tokens that were read."""

    inner: Any
    recent: tuple[int, ...]


class CachedModel:
    """A BlockModel whose committed rows speak with the repository's cache mixed in. Previews are the model's own.
    It rewinds where the model does, by the last 64 tokens at most, and drafts what the cache is sure of."""

    def __init__(self, model: BlockModel[Any], cache: Finder) -> None:
        self.model, self.cache = model, cache
        self.vocabulary, self.device = model.vocabulary, model.device

    def start(self) -> CachedState:
        return CachedState(self.model.start(), ())

    def position(self, state: CachedState) -> int:
        return self.model.position(state.inner)

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: CachedState, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, CachedState]:
        ids = [int(token) for token in tokens]
        logits_TV, inner = self.model.commit(ids, state.inner, rows=rows)
        read = (*state.recent, *ids)
        asked = range(len(ids))[rows if rows is not None else slice(None)]
        ends = [len(state.recent) + place + 1 for place in asked]
        mixed = [
            mix(row_V, self.cache.find(read[max(0, end - ORDERS[0]) : end])) for row_V, end in zip(logits_TV, ends)
        ]
        after = CachedState(inner, read[-(ORDERS[0] + _REWIND) :])
        return (torch.stack(mixed) if mixed else logits_TV), after

    def step(self, known: Sequence[int], masks: int, state: CachedState) -> tuple[torch.Tensor, Sequence[CachedState]]:
        """Reads `known`; the rows behind them [masks] point to what the cache says after the likeliest next token, as
        far as it is sure. Only the last state is given. See `OnePass` in `model.decoding.draft_verify`."""
        logits_TV, after = self.commit(known, state)
        context = [*after.recent, int(logits_TV[-1].argmax())]
        drafts: list[int] = []
        while len(drafts) < masks:
            match = self.cache.find(context[-ORDERS[0] :])
            if match is None or match.trust * match.shares.max() < _WORTH:
                break
            drafts.append(int(match.tokens[match.shares.argmax()]))
            context.append(drafts[-1])
        if not drafts:
            return logits_TV, [after]
        drafts_MV = logits_TV.new_zeros(len(drafts), self.vocabulary)
        drafts_MV[range(len(drafts)), drafts] = 1
        return torch.cat([logits_TV, drafts_MV]), [after]

    def succeed(self, state: CachedState, token: int, width: int) -> list[int]:
        """What the model itself drafts, where it does. See `Succeeding` in `model.decoding.draft_verify`."""
        draft = getattr(self.model, "succeed", None)
        return draft(state.inner, token, width) if draft is not None else []

    def rewind(self, state: CachedState, position: int) -> CachedState:
        """The state as it was at an earlier position. Raises ValueError where that is no longer known."""
        back = self.model.position(state.inner) - position
        if not isinstance(self.model, Rewindable) or len(state.recent) - back < min(ORDERS[0], position):
            raise ValueError(f"nothing is known any more about the state at {position}")
        return CachedState(self.model.rewind(state.inner, position), state.recent[: len(state.recent) - back])

    def preview(self, block: Block, state: CachedState) -> torch.Tensor:
        return self.model.preview(block, state.inner)

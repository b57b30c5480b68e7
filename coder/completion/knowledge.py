"""What the workspace says, as one n-gram cache: a large part that is built in the background, and small ones for the
open files.

The large index takes a second for a large repository, so a new one is made beside the old one, which answers until the
new one stands. It leaves the open files out: what a file says right behind the cursor is no news there. Of the file
with the cursor only the lines around the cursor's count, of the others everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.repository_cache import Match, RepositoryCache

GROWTH = 0.25  # how much must be new before the large part is built again
FIRST = 20_000  # tokens that are worth a first build
OPEN = 8  # open files that are looked into at most, the latest ones

Encode = Callable[[str], Sequence[int]]


class Knowledge:
    """Finds continuations in all that was read. `add`, `remove`, `forget` and `build` may come from any thread, `open`,
    `focus` and `find` from that of the model; `leave_out` and `close` from the editor's. Files go by one name in all of
    them. All tokens are of one tokenizer: for another one, or to forget everything, a new knowledge takes the place of
    this."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._building = threading.Lock()
        self._texts: dict[str, Sequence[int]] = {}
        self._size = self._built_size = self._fresh = 0  # tokens: of all, at the last build, added since
        self._base: RepositoryCache | None = None
        self._left_out: frozenset[str] = frozenset()
        self._open: dict[str, RepositoryCache] = {}
        self._around: tuple[str, tuple[str, ...]] = "", ()
        self._near: RepositoryCache | None = None

    def __len__(self) -> int:
        """Tokens of the repository that are known."""
        return self._size

    # -- the repository --------------------------------------------------------------------------------------------

    def add(self, name: str, tokens: Sequence[int]) -> None:
        """A file of the repository. It counts once the index was built again."""
        with self._changing:
            self._size += len(tokens) - len(self._texts.get(name, ()))
            self._fresh += len(tokens)
            self._texts[name] = tokens

    def remove(self, name: str) -> None:
        with self._changing:
            self._size -= len(self._texts.pop(name, ()))

    def forget(self, gone: set[str]) -> bool:
        """Removes the files of these names, and those in folders of these names. Whether there were any."""
        known = [name for name in list(self._texts) if not gone.isdisjoint(_ways_up(name))] if gone else []
        for name in known:
            self.remove(name)
        return bool(known)

    def due(self) -> bool:
        """Whether enough is new to build the index again."""
        return self._fresh > max(FIRST, GROWTH * self._built_size)

    def build(self) -> None:
        """Makes the index of all files that were added and are not open."""
        from model.repository_cache import RepositoryCache

        with self._building:
            with self._changing:
                size, self._fresh = self._size, 0
            cache = RepositoryCache()
            for name, tokens in list(self._texts.items()):
                if name not in self._left_out:
                    cache.add(name, tokens)
            cache.find((0,) * 2)  # makes the index
            self._base, self._built_size = cache, size

    # -- the open files --------------------------------------------------------------------------------------------

    def leave_out(self, name: str) -> bool:
        """A file was opened: the next build leaves it out. Whether it is in the index now."""
        self._left_out |= {name}
        return self._indexed(name)

    def close(self, name: str) -> bool:
        """A file was closed: the next build takes it in. Whether there is something to take in."""
        self._left_out -= {name}
        self._open.pop(name, None)
        return self._indexed(name)

    def _indexed(self, name: str) -> bool:
        return name in self._texts and self._base is not None

    def open(self, name: str, tokens: Sequence[int]) -> None:
        """The text of an open file as it is now."""
        from model.repository_cache import RepositoryCache

        cache = RepositoryCache()
        cache.add(name, tokens)
        self._open.pop(name, None)
        self._open[name] = cache
        while len(self._open) > OPEN:
            del self._open[next(iter(self._open))]

    def focus(self, name: str, around: tuple[str, ...], encode: Encode) -> None:
        """The file with the cursor, and the texts above and below the cursor's line."""
        from model.repository_cache import RepositoryCache

        if (name, around) == self._around:
            return
        self._around, self._near = (name, around), RepositoryCache()
        for number, text in enumerate(around):
            self._near.add(str(number), encode(text))

    def find(self, context: Sequence[int]) -> Match | None:
        """The longest match; of equally long ones the one nearest to the cursor."""
        others = [cache for name, cache in list(self._open.items()) if name != self._around[0]]
        best: Match | None = None
        for cache in (self._near, *reversed(others), self._base):
            match = cache.find(context) if cache is not None else None
            if match is not None and (best is None or match.order > best.order):
                best = match
        return best


class Nothing(Knowledge):
    """Knows no continuation, whatever it is told: for a text that is not to be copied from what stands around it."""

    def find(self, context: Sequence[int]) -> Match | None:
        return None


def _ways_up(name: str) -> Iterator[str]:
    """A name and those of the folders around it."""
    while name:
        yield name
        name = name.rpartition("/")[0]

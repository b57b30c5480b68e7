"""What the workspace says, as one n-gram cache: a large part that is built in the background, and the open files.

Building an index takes a second for a large repository, so a new one is made beside the old one, which answers until
the new one stands. The open files are few and change all the time: their small index is made anew when they change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.repository_cache import Match, RepositoryCache

GROWTH = 0.25  # how much must be new before the large part is built again
FIRST = 20_000  # tokens that are worth a first build


class Knowledge:
    """Finds continuations in all that was read. `add`, `remove` and `build` belong to the reading thread, `find` to the
    model's; `open` may come from any."""

    def __init__(self) -> None:
        self._texts: dict[str, Sequence[int]] = {}
        self._size = self._built_size = 0
        self._base: RepositoryCache | None = None
        self._open: dict[str, Sequence[int]] = {}
        self._near: RepositoryCache | None = None
        self._near_of: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Tokens of the repository that are known."""
        return self._size

    def add(self, name: str, tokens: Sequence[int]) -> None:
        """A file of the repository. It counts once the index was built again."""
        self._size += len(tokens) - len(self._texts.get(name, ()))
        self._texts[name] = tokens

    def remove(self, name: str) -> None:
        self._size -= len(self._texts.pop(name, ()))

    def due(self) -> bool:
        """Whether enough is new to build the index again."""
        return self._size - self._built_size > max(FIRST, GROWTH * self._built_size)

    def build(self) -> None:
        """Makes the index of all files that were added."""
        from model.repository_cache import RepositoryCache

        cache = RepositoryCache()
        for name, tokens in self._texts.items():
            cache.add(name, tokens)
        cache.find((0,) * 2)  # builds
        self._base, self._built_size = cache, self._size

    def open(self, name: str, tokens: Sequence[int] | None) -> None:
        """The text of an open file as it is now; None when it was closed."""
        if tokens is None:
            self._open.pop(name, None)
        else:
            self._open[name] = tokens

    def clear(self) -> None:
        """Forgets everything."""
        self.__init__()  # type: ignore[misc]

    def find(self, context: Sequence[int]) -> Match | None:
        """The longer match of the open files' and the repository's; of equal ones the open files'."""
        near = self._nearby().find(context)
        far = self._base.find(context) if self._base is not None else None
        if near is None or far is None:
            return near or far
        return far if far.order > near.order else near

    def _nearby(self) -> RepositoryCache:
        from model.repository_cache import RepositoryCache

        now = tuple(map(id, self._open.values()))
        if self._near is None or now != self._near_of:
            self._near, self._near_of = RepositoryCache(), now
            for name, tokens in list(self._open.items()):
                self._near.add(name, tokens)
        return self._near

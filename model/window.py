"""Keys and values of the tokens a model has read: a value that forks in O(1) and shares its storage.

Shape letters: L layers, K key heads, T tokens, C capacity, D head size.
"""

from __future__ import annotations

import weakref

import torch

from model.layers.exact_products import STEP

_SMALLEST = 256
_GROWTH = 1024  # columns that storage grows by, at most, where no more are needed


class _Buffer:
    """Preallocated storage [L, K, capacity, D] and the live windows that look into it."""

    def __init__(self, keys_LKTD: torch.Tensor, values_LKTD: torch.Tensor) -> None:
        self.keys = keys_LKTD
        self.values = values_LKTD
        self.windows: weakref.WeakSet[Window] = weakref.WeakSet()

    @classmethod
    def like(cls, other: _Buffer, capacity: int) -> _Buffer:
        layers, heads, _, size = other.keys.shape
        whole = -(-capacity // STEP) * STEP
        return cls(*(one.new_zeros(layers, heads, whole, size) for one in (other.keys, other.values)))

    @property
    def capacity(self) -> int:
        return self.keys.shape[2]


class Window:
    """The first `length` columns of a buffer that other windows may share.

    Extending a window writes behind its last column, in place. Where a living relative has its own tokens there, that
    relative first takes a copy of them (its tail, not its whole past), so no window ever changes under its owner.
    Dropped windows cost nothing. Not thread-safe among relatives. What is shorter than `lowest` was never a prefix of
    this text: its beginning was another then.
    """

    def __init__(self, buffer: _Buffer, length: int, lowest: int = 0) -> None:
        self._buffer = buffer
        self.length = length
        self.lowest = lowest
        self._shared = length  # columns that still stand in the buffer; the rest is in the tail
        self._tail: tuple[torch.Tensor, torch.Tensor] | None = None
        buffer.windows.add(self)

    @classmethod
    def empty(cls, layers: int, heads: int, size: int, dtype: torch.dtype, device: torch.device) -> Window:
        keys, values = torch.zeros(2, layers, heads, _SMALLEST, size, dtype=dtype, device=device)
        return cls(_Buffer(keys, values), 0)

    @classmethod
    def of(cls, keys_LKTD: torch.Tensor, values_LKTD: torch.Tensor) -> Window:
        """A window over a copy of the given columns."""
        length = keys_LKTD.shape[2]
        buffer = _Buffer.like(_Buffer(keys_LKTD, values_LKTD), max(_SMALLEST, length))
        buffer.keys[:, :, :length] = keys_LKTD
        buffer.values[:, :, :length] = values_LKTD
        return cls(buffer, length)

    @property
    def keys_LKTD(self) -> torch.Tensor:
        """Read-only view [L, K, length, D]."""
        return self._settled().keys[:, :, : self.length]

    @property
    def values_LKTD(self) -> torch.Tensor:
        """Read-only view [L, K, length, D]."""
        return self._settled().values[:, :, : self.length]

    def storage(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values [L, K, C, D] with the columns behind `length` too: finite, of no meaning."""
        buffer = self._settled()
        return buffer.keys, buffer.values

    def prefix(self, length: int) -> Window:
        """The window as it was when it had `length` tokens. Raises ValueError where it never was so."""
        if not self.lowest <= length <= self.length:
            raise ValueError(f"a window of {self.length} tokens has no prefix of {length}")
        return Window(self._settled(), length, self.lowest)

    def extend(self, count: int) -> Window:
        """A window longer by `count` columns, which the caller fills through its `keys_LKTD` and `values_LKTD`."""
        buffer, length = self._settled(), self.length + count
        if length > buffer.capacity:
            buffer = self._moved(max(length, buffer.capacity + min(buffer.capacity, _GROWTH)))
        else:
            for relative in list(buffer.windows):
                relative._keep_own(self.length)
        return Window(buffer, length, self.lowest)

    def _keep_own(self, shared: int) -> None:
        """Columns from `shared` on are about to be overwritten by a relative: copy those that are ours."""
        if shared >= self._shared:
            return
        columns = slice(shared, self._shared)
        keys, values = self._buffer.keys[:, :, columns], self._buffer.values[:, :, columns]
        if self._tail is None:
            self._tail = keys.clone(), values.clone()
        else:
            self._tail = torch.cat([keys, self._tail[0]], 2), torch.cat([values, self._tail[1]], 2)
        self._shared = shared

    def _settled(self) -> _Buffer:
        """The buffer that holds all our columns: a new one where a relative has overwritten some of ours."""
        if self._tail is not None:
            buffer = self._moved(self._buffer.capacity)
            self._buffer.windows.discard(self)
            self._buffer, self._shared, self._tail = buffer, self.length, None
            buffer.windows.add(self)
        return self._buffer

    def _moved(self, capacity: int) -> _Buffer:
        buffer = _Buffer.like(self._buffer, capacity)
        for to, source in ((buffer.keys, self._buffer.keys), (buffer.values, self._buffer.values)):
            to[:, :, : self._shared] = source[:, :, : self._shared]
        if self._tail is not None:
            buffer.keys[:, :, self._shared : self.length] = self._tail[0]
            buffer.values[:, :, self._shared : self.length] = self._tail[1]
        return buffer

"""How far two sequences of tokens are the same: that much of a reading serves both."""

from __future__ import annotations

from collections.abc import Sequence


def in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two sequences begin with in common."""
    limit = min(len(one), len(other))
    if one[:limit] == other[:limit]:  # quick where both are lists
        return limit
    return next((at for at in range(limit) if one[at] != other[at]), limit)

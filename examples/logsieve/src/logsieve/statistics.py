"""Small statistics on lists of numbers."""

from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, or None when there are no values."""
    if not values:
        return None
    return sum(values) / len(values)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Linear interpolation between the closest ranks, or None when there are no values."""
    ordered = sorted(values)
    rank = (len(ordered) - 1) * percent / 100
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


def share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

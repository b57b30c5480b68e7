"""Discounts on a sum."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from storefront import money


@dataclass(frozen=True)
class Percent:
    percent: int
    above: int = 0

    def off(self, cents: int) -> int:
        if cents < self.above:
            return 0
        return money.truncate(cents * Decimal(self.percent) / 100)


@dataclass(frozen=True)
class Fixed:
    cents: int

    def off(self, cents: int) -> int:
        return min(self.cents, cents)


def best(discounts: Iterable[Percent | Fixed], cents: int) -> int:
    return max((discount.off(cents) for discount in discounts), default=0)

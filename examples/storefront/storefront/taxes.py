"""Value-added tax by category."""

from decimal import Decimal

from storefront import money

STANDARD = Decimal("0.19")
REDUCED = Decimal("0.07")
RATES = {"books": REDUCED, "food": REDUCED, "gift cards": Decimal(0)}


def rate_of(category: str) -> Decimal:
    return RATES.get(category, STANDARD)


def tax_on(cents: int, category: str) -> int:
    """Tax to add to a net amount, in cents."""
    return money.truncate(cents * rate_of(category))


def tax_within(cents: int, category: str) -> int:
    """Tax that a gross amount contains, in cents."""
    rate = rate_of(category)
    return money.round_half_even(cents * rate / (1 + rate))

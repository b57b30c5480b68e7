"""Amounts in whole cents."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal


def to_cents(text: str) -> int:
    """Cents of an amount such as `12.30`. Raises ValueError when it has more than two decimals."""
    amount = Decimal(text) * 100
    if amount != amount.to_integral_value():
        raise ValueError(f"{text} has a fraction of a cent")
    return int(amount)


def truncate(amount: Decimal) -> int:
    """Whole cents, fractions cut off: what a customer may be given back."""
    return int(amount.quantize(Decimal(1), rounding=ROUND_DOWN))


def round_half_even(amount: Decimal) -> int:
    """Whole cents, halves to the even neighbour: what the tax office asks for."""
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


def format_cents(cents: int, currency: str = "EUR") -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} {currency}"

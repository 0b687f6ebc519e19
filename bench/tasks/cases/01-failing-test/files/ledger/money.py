"""Amounts of money. All of them are whole cents."""

from collections.abc import Sequence


def format_cents(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02}"


def allocate(total: int, weights: Sequence[int]) -> list[int]:
    """Split a total by weight. The first shares get the cents that are left over, one each."""
    whole = sum(weights)
    if not weights or whole <= 0:
        raise ValueError("weights must add up to more than zero")
    shares = [round(total * weight / whole) for weight in weights]
    rest = total - sum(shares)
    for index in range(rest):
        shares[index] += 1
    return shares

"""Context windows and prices as short texts."""

from tejat.core.agent.prices import Price
from tejat.core.i18n import _

_ROUNDING_ERROR = 1e-6
"""Smaller differences are those of floating-point numbers."""


def format_window(tokens: int | None) -> str:
    """Return a number of tokens such as `1M`, `272k` or `4,096`; "" for None."""
    if tokens is None:
        return ""
    if tokens >= 1_000_000:
        millions = tokens / (2**20 if tokens % 2**20 == 0 else 10**6)
        return f"{millions:.2f}".rstrip("0").rstrip(".") + "M"
    if tokens < 10_000:
        return f"{tokens:,}"
    is_binary = tokens % 1000 != 0 and tokens % 1024 == 0
    return f"{tokens // 1024 if is_binary else round(tokens / 1000)}k"


def format_price(price: Price | None) -> str:
    """Return the dollars for a million tokens sent and received, such as `$2.00 / $12.00`; "" if they are unknown.

    The price is that of the shortest prompts.
    """
    if price is None:
        return ""
    if not (price.input or price.output):
        return _("free")
    return f"{format_dollars(price.input)} / {format_dollars(price.output)}"


def format_dollars(dollars: float) -> str:
    """Return dollars with two decimals such as `$2.50`, with more if it has them."""
    return f"${dollars:.2f}" if abs(dollars - round(dollars, 2)) < _ROUNDING_ERROR else f"${dollars:g}"

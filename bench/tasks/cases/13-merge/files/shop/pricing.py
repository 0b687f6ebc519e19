"""Prices in cents."""

TAX_PERCENT = 19


def total(items):
    """The price of all items with tax."""
    net = sum(price * count for price, count in items)
    return net + net * TAX_PERCENT // 100


def describe(items):
    return f"{len(items)} items, {total(items)} cents"

"""Daily report."""

from shop.pricing import describe


def report(orders):
    return "\n".join(describe(items) for items in orders)

"""Prices of model requests."""

from tejat.core.frozen import Value
from tejat.core.model import Usage

_MILLION = 1_000_000


class Price(Value):
    """Dollars per million tokens.

    Writing to a cache costs `input` if `cache_write` is None. Each step holds a number of tokens and the price of
    requests whose prompt is longer than that; steps are in ascending order.
    """

    input: float
    cached: float
    output: float
    cache_write: float | None = None
    steps: "tuple[tuple[int, Price], ...]" = ()

    def for_prompt(self, tokens: int) -> "Price":
        """Return the price of a request with a prompt of this length."""
        return next((price for above, price in reversed(self.steps) if tokens > above), self)

    def times(self, factor: float) -> "Price":
        """Return a multiple of the price."""
        written = None if self.cache_write is None else self.cache_write * factor
        steps = tuple((above, step.times(factor)) for above, step in self.steps)
        return Price(self.input * factor, self.cached * factor, self.output * factor, written, steps)


def check_price(price: Price) -> None:
    """Raises TypeError for a field of another type, and ValueError for an amount that cannot be meant."""
    from tejat.core.messages.value_check import check_value

    check_value(price)
    for each in (price, *(step for _, step in price.steps)):
        for name in ("input", "cached", "output", "cache_write"):
            amount = getattr(each, name)
            if amount is not None and not 0 <= amount < _ENDLESS:
                raise ValueError(f"Price.{name} must be dollars, 0 or more, not {amount}.")


_ENDLESS = float("inf")
FREE = Price(0.0, 0.0, 0.0)


def cost_of(usage: Usage, price: Price) -> float:
    """Return the dollars for one request. Thoughts are priced as output, input of server-side tools as input."""
    price = price.for_prompt(usage.prompt)
    fresh = max(0, usage.prompt - usage.cached - usage.cache_write) + usage.tool
    written = usage.cache_write * (price.input if price.cache_write is None else price.cache_write)
    output = (usage.output + usage.thoughts) * price.output
    return (fresh * price.input + usage.cached * price.cached + written + output) / _MILLION

"""Fixed prices for budgets."""

from collections.abc import Callable

from tejat.core.agent.prices import Price


class FixedPrices:
    """Prices by a function. The upper bound of an unknown model is `bound`, of a service called `dear`."""

    def __init__(self, price_of: Callable[[str], Price | None], bound: Price | None = None) -> None:
        self._price_of = price_of
        self._bound = bound or Price(100.0, 100.0, 100.0)

    def price_of(self, model: str) -> Price | None:
        return self._price_of(model)

    def upper_bound(self, model: str) -> tuple[Price, str]:
        return self._bound, "dear"

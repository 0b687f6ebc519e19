"""Prices of models by name: the user's own first, then those of the catalogue on the day of the request."""

import time
from collections.abc import Callable, Iterable, Mapping

from tejat.core.agent.prices import FREE, Price
from tejat.core.frozen import Frozen, field
from tejat.models.catalogue.catalogue_file import ModelCatalogue

_FREE_PROVIDERS = frozenset({"ollama", "scripted"})
"""Providers that run on the user's own machine, or nowhere."""
_CATALOGUE_SERVICES = {"vertex": "gemini", "azure": "openai", "bedrock": "anthropic"}
"""Providers whose models are those of another service in the catalogue."""
_PROVIDERS = frozenset({"gemini", "openai", "anthropic", *_CATALOGUE_SERVICES})


def day_of(timestamp: float | None = None) -> str:
    """Return the day of a time in UTC, in ISO format. None is now."""
    return time.strftime("%Y-%m-%d", time.gmtime(timestamp))


class PriceList(Frozen):
    """Prices by model name. `own` prices of the user override those of the catalogue, which is loaded when needed."""

    load: Callable[[], ModelCatalogue]
    own: Mapping[str, Price] = field(default_factory=dict[str, Price])
    today: Callable[[], str] = day_of

    def own_price_of(self, model: str) -> Price | None:
        """Return the user's own price of a model, None if there is none."""
        return _longest_match(self.own, model) or _longest_match(self.own, _split(model)[1])

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model today, None if it is unknown. The name may begin with its provider."""
        price = self.own_price_of(model)
        if price is not None:
            return price
        provider, name = _split(model)
        if provider in _FREE_PROVIDERS:
            return FREE
        entry = self.load().find(name)
        price = None if entry is None else entry.price_on(self.today())
        if entry is None or price is None or provider != "bedrock" or name.startswith("global."):
            return price
        return price.times(entry.regional_factor)

    def upper_bound(self, model: str) -> tuple[Price, str]:
        """Return a price that no known model of the same service exceeds today, and the name of that service.

        The service of a name without a provider is that of the models it resembles; all services if there are none.
        """
        provider, name = _split(model)
        service, day = _CATALOGUE_SERVICES.get(provider, provider), self.today()
        offered = [entry for entry in self.load() if not entry.is_retired(day)]
        service = service or next((entry.service for entry in offered if _resembles(entry.id, name)), "")
        ours = [entry for entry in offered if entry.service == service] or offered
        prices = [price for entry in ours if (price := entry.price_on(day)) is not None]
        return _highest(prices), service


def _split(model: str) -> tuple[str, str]:
    """Split a name into its provider, "" if it has none, and the provider's own name."""
    provider, colon, inner = model.partition(":")
    if colon and (provider in _PROVIDERS or provider in _FREE_PROVIDERS):
        return provider, inner.rpartition("/")[2]
    return "", model.rpartition("/")[2]


def _resembles(known: str, name: str) -> bool:
    return bool(known) and known.partition("-")[0] == name.lower().partition("-")[0]


def _highest(prices: Iterable[Price]) -> Price:
    every = [each for price in prices for each in (price, *(step for _, step in price.steps))]
    return Price(
        max((price.input for price in every), default=0.0),
        max((price.cached for price in every), default=0.0),
        max((price.output for price in every), default=0.0),
        max((price.input if price.cache_write is None else price.cache_write for price in every), default=0.0),
    )


def _longest_match(prices: Mapping[str, Price], model: str) -> Price | None:
    """Return the user's price of the longest name that the model has or begins with."""
    fitting = [name for name in prices if model == name or model.startswith((f"{name}-", f"{name}@", f"{name}:"))]
    return prices[max(fitting, key=len)] if fitting else None

"""Costs of past requests, at the prices of their day."""

import os
from functools import partial

from tejat.app.model_source import own_prices
from tejat.app.run_config import RunConfig
from tejat.config.files.parse_cache import file_identity
from tejat.core.agent.prices import Price, cost_of
from tejat.core.frozen import replace
from tejat.core.model import Usage
from tejat.core.text.digest import sha256
from tejat.models.catalogue.catalogue_file import builtin_catalogue, load_catalogue
from tejat.models.catalogue.price_list import PriceList, day_of


class RequestPrices:
    """The prices that apply in a project: those in its settings, then those of the catalogue."""

    def __init__(self, run_config: RunConfig) -> None:
        self._catalogue_file = run_config.paths.catalogue
        self._own = own_prices(run_config)
        self._list = PriceList(partial(load_catalogue, self._catalogue_file), self._own)
        self._known: dict[tuple[str, str, str], Price | None] = {}

    def cost(self, usage: Usage, model: str, requested_model: str, at: float) -> float | None:
        """The dollars for requests on one day, None if the price is unknown.

        A service may name its model in its own way, and not as it was requested.
        """
        if not usage.total:
            return 0.0
        key = model, requested_model, day_of(at)
        if key not in self._known:
            prices = replace(self._list, today=lambda: key[2])
            self._known[key] = prices.price_of(model) or prices.price_of(requested_model)
        price = self._known[key]
        return None if price is None else cost_of(usage, price)

    @property
    def version(self) -> str:
        """A text that changes with the prices."""
        try:
            updated = file_identity(os.stat(self._catalogue_file))
        except OSError:
            updated = ""
        own = sorted((name, repr(price)) for name, price in self._own.items())
        return sha256(repr((builtin_catalogue().date, updated, own)).encode()).hexdigest()[:16]

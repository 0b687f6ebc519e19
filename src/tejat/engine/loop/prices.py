"""Prices of models."""

import json
import os
from collections.abc import Mapping
from typing import Any

from tejat.core.frozen import frozen
from tejat.core.model import Usage

_PRICE_FILE = os.path.join(os.path.dirname(__file__), "prices.json")
_MILLION = 1_000_000

_FREE_PROVIDERS = frozenset({"ollama", "scripted"})
"""Providers that run on the user's own machine, or nowhere."""
_PROVIDERS = frozenset({"gemini", "vertex", "openai", "anthropic"})


@frozen
class Price:
    """Dollars per million tokens. Requests with more than `threshold` tokens cost the price in `beyond`."""

    input: float
    cached: float
    output: float
    threshold: int | None = None
    beyond: "Price | None" = None


def cost_of(usage: Usage, price: Price) -> float:
    """Return the dollars for one request. Thoughts are priced as output, input of server-side tools as input."""
    if price.threshold is not None and price.beyond is not None and usage.prompt > price.threshold:
        price = price.beyond
    fresh, output = max(0, usage.prompt - usage.cached) + usage.tool, usage.output + usage.thoughts
    return (fresh * price.input + usage.cached * price.cached + output * price.output) / _MILLION


class PriceList:
    """Prices by model name. `own` prices of the user override the built-in ones."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = own or {}
        self._builtin: Mapping[str, Price] | None = None

    def price_of(self, model: str) -> Price | None:
        """Return the price with the longest matching name; None if there is none.

        `gemini-2.5-pro` is also the price of `gemini-2.5-pro-preview-05-06`, but `gpt-5` is not that of `gpt-5.2`.
        """
        provider, _, inner = model.partition(":")
        name = (inner if provider in _PROVIDERS else model).rpartition("/")[2]
        price = _longest_match(self._own, model) or _longest_match(self._own, name)
        if price is not None:
            return price
        if provider in _FREE_PROVIDERS:
            return Price(0.0, 0.0, 0.0)
        if self._builtin is None:
            self._builtin = _load_prices()
        return _longest_match(self._builtin, name)


def known_models() -> list[str]:
    """List the versioned model names with built-in prices."""
    return [name for name in _load_prices() if any(letter.isdigit() for letter in name)]


def _longest_match(prices: Mapping[str, Price], model: str) -> Price | None:
    fitting = [name for name in prices if model == name or model.startswith((f"{name}-", f"{name}@", f"{name}:"))]
    return prices[max(fitting, key=len)] if fitting else None


def _load_prices() -> dict[str, Price]:
    with open(_PRICE_FILE, encoding="utf-8") as file:
        return {name: _parse_price(data) for name, data in json.load(file).items()}


def _parse_price(data: dict[str, Any]) -> Price:
    beyond = _parse_price(data["beyond"]) if data.get("beyond") is not None else None
    return Price(data["input"], data["cached"], data["output"], data.get("threshold"), beyond)

"""Reader of the data that the genai-prices project publishes: models and their prices, by provider.

Nothing in the file is executed, and its regular expressions are not used: dates and versions at the end of a name are
recognised by the catalogue itself.
"""

from collections.abc import Iterator, Mapping, Sequence

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.models.wire.json_access import as_list, as_object, as_str

SERVICES: Mapping[str, str] = {"google": "gemini", "openai": "openai", "anthropic": "anthropic"}
"""Providers of the published data, and what they are called here."""
_OWN_MODELS: Mapping[str, tuple[str, ...]] = {"google": ("gemini", "gemma"), "anthropic": ("claude",)}
"""How the names of a provider's own models begin. Google also resells the models of others."""
_PRICE_KEYS = (
    ("input", "input_mtok"),
    ("cached", "cache_read_mtok"),
    ("cache_write", "cache_write_mtok"),
    ("output", "output_mtok"),
)


def read_models(data: object) -> list[dict[str, object]]:
    """Return the models of the known services as JSON objects of the catalogue. Raises UsageError for other data."""
    providers = [as_object(provider) for provider in as_list(data)]
    models = [model for provider in providers for model in _provider_models(provider)]
    if not models:
        raise UsageError(_("Not genai-prices data: no models of Google, OpenAI or Anthropic found."))
    return models


def _provider_models(provider: Mapping[str, object]) -> Iterator[dict[str, object]]:
    name = as_str(provider.get("id"))
    if name not in SERVICES:
        return
    for model in map(as_object, as_list(provider.get("models"))):
        identifier = as_str(model.get("id"))
        if not identifier or not identifier.startswith(_OWN_MODELS.get(name, ("",))):
            continue
        names = [each for each in dict.fromkeys(_names(as_object(model.get("match")))) if each != identifier]
        prices = read_prices(model.get("prices"))
        read: dict[str, object] = {"id": identifier, "service": SERVICES[name]}
        given = {"title": model.get("name"), "names": names, "window": model.get("context_window"), "prices": prices}
        yield read | {key: value for key, value in given.items() if value}


def _names(clause: Mapping[str, object]) -> Iterator[str]:
    """List the names that a match clause accepts, and prefixes with `*`."""
    for key in ("equals", "contains", "ends_with"):
        if name := as_str(clause.get(key)):
            yield name
    if prefix := as_str(clause.get("starts_with")):
        # Without a separator at its end it is a name, which dates and versions may follow.
        yield f"{prefix}*" if prefix.endswith(("-", "@", ":")) else prefix
    for key in ("or", "and"):
        for inner in as_list(clause.get(key)):
            yield from _names(as_object(inner))


def read_prices(prices: object) -> list[dict[str, object]]:
    """Return the prices of a model as JSON objects of the catalogue, by the day they start."""
    return list(_prices(prices))


def _prices(prices: object) -> Iterator[dict[str, object]]:
    """List the prices by the day they start. Prices by the time of day are left out."""
    if price := _price(as_object(prices)):
        yield price
    for conditional in map(as_object, as_list(prices)):
        constraint = as_object(conditional.get("constraint"))
        price = _price(as_object(conditional.get("prices")))
        start = as_str(constraint.get("start_date"))
        if price and (start or not constraint):
            yield {"from": start, **price} if start else price


def _price(price: Mapping[str, object]) -> dict[str, object]:
    given = {ours: price[theirs] for ours, theirs in _PRICE_KEYS if price.get(theirs) is not None}
    if "input" not in given or "output" not in given:
        return {}
    starts = sorted({start for value in given.values() for start, _ in _tiers(value)})
    above = {str(start): {ours: _price_above(value, start) for ours, value in given.items()} for start in starts}
    base: dict[str, object] = {ours: _price_above(value, -1) for ours, value in given.items()}
    return base | ({"above": above} if above else {})


def _tiers(value: object) -> Sequence[tuple[int, object]]:
    tiers = [as_object(tier) for tier in as_list(as_object(value).get("tiers"))]
    return [(start, tier.get("price")) for tier in tiers if isinstance(start := tier.get("start"), int)]


def _price_above(value: object, tokens: int) -> object:
    """Return the price of requests that are longer than a number of tokens; -1 for the lowest price."""
    passed = [(start, price) for start, price in _tiers(value) if start <= tokens]
    return max(passed, key=lambda tier: tier[0])[1] if passed else as_object(value).get("base", value)

"""Entries of the catalogue, and how a model name finds its entry."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tejat.core.agent.prices import Price
from tejat.core.frozen import Frozen
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str

_VERSION_SUFFIX = (
    r"[-@:](?:latest|preview|exp|experimental|thinking|customtools|it|v\d+(?::\d+)?"
    r"|\d{4}-\d\d-\d\d|\d{8}|\d\d-\d{4}|\d\d-\d\d|\d{3,4})$"
)
"""What may follow a known name without changing the model: a date, a number of a version, or a stage of release.

One or two digits may not: `claude-opus-5-5` is another model than `claude-opus-5`.
"""
_BEDROCK_PREFIX = r"^(?:[a-z-]+\.)?(?:anthropic|openai)\."
_MAX_PRICE = 1e5


class DatedPrice(Frozen):
    """A price and the day it starts, in ISO format; "" for the first price."""

    start: str
    price: Price


class ModelEntry(Frozen):
    """One model of the catalogue. `names` are other names of it; those that end with `*` are prefixes.

    `context_window` is the longest prompt and `max_output` the longest answer in tokens, None if unknown. `retired` is
    the day on which the service ends or ended the model, in ISO format, "" if no day is known. Legacy models are no
    longer offered; they are known for their old names. In a single region of Bedrock, a model costs `regional_factor`
    times its price.
    """

    id: str
    service: str
    title: str = ""
    names: tuple[str, ...] = ()
    tier: str = ""
    family: str = ""
    is_preview: bool = False
    context_window: int | None = None
    max_output: int | None = None
    abilities: frozenset[str] = frozenset()
    prices: tuple[DatedPrice, ...] = ()
    retired: str = ""
    is_legacy: bool = False
    regional_factor: float = 1.0

    def price_on(self, day: str) -> Price | None:
        """Return the price on a day in ISO format, None if it is unknown."""
        return next((dated.price for dated in reversed(self.prices) if dated.start <= day), None)

    def is_retired(self, day: str) -> bool:
        return self.is_legacy or (bool(self.retired) and self.retired <= day)


def own_name(name: str) -> str:
    """Return a model name without a path or a region and vendor of Bedrock, in small letters."""
    last = name.rpartition("/")[2].lower()
    return re.sub(_BEDROCK_PREFIX, "", last) if "anthropic." in last or "openai." in last else last


class ModelTable:
    """The models of one catalogue file. `models` are JSON objects; each is parsed when it is found."""

    def __init__(self, models: Sequence[object]) -> None:
        self._models = tuple(as_object(model) for model in models)
        self._by_name: dict[str, Mapping[str, object]] = {}
        self._by_prefix: list[tuple[str, Mapping[str, object]]] = []
        self._found: dict[str, ModelEntry | None] = {}
        for model in self._models:
            for name in (model.get("id"), *as_list(model.get("names"))):
                self._add_name(as_str(name).lower(), model)

    def _add_name(self, name: str, model: Mapping[str, object]) -> None:
        if name.endswith("*"):
            self._by_prefix.append((name[:-1], model))
        elif name:
            self._by_name.setdefault(name, model)

    def __iter__(self) -> Iterator[ModelEntry]:
        return map(parse_entry, self._models)

    def find(self, name: str) -> ModelEntry | None:
        """Return the entry of a model name without its service; None if there is none.

        `gemini-2.5-pro-preview-05-06` is found as `gemini-2.5-pro`, but `gpt-5.9` or `gpt-5-huge` not as `gpt-5`.
        """
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> ModelEntry | None:
        whole = stem = own_name(name)
        model = self._by_name.get(stem)
        while model is None and (suffix := re.search(_VERSION_SUFFIX, stem)) is not None:
            stem = stem[: suffix.start()]
            model = self._by_name.get(stem)
        if model is None:
            fitting = [(prefix, found) for prefix, found in self._by_prefix if whole.startswith(prefix)]
            model = max(fitting, key=lambda each: len(each[0]))[1] if fitting else None
        return None if model is None else parse_entry(model)


def parse_entry(model: Mapping[str, object]) -> ModelEntry:
    """Return the entry of a JSON object of the catalogue. Values of a wrong type count as absent."""
    return ModelEntry(
        id=as_str(model.get("id")),
        service=as_str(model.get("service")),
        title=as_str(model.get("title")),
        names=tuple(as_str(name) for name in as_list(model.get("names"))),
        tier=as_str(model.get("tier")),
        family=as_str(model.get("family")),
        is_preview=model.get("preview") is True,
        context_window=as_count(model.get("window")) or None,
        max_output=as_count(model.get("output")) or None,
        abilities=frozenset(as_str(ability) for ability in as_list(model.get("abilities"))),
        prices=tuple(_dated_prices(as_list(model.get("prices")))),
        retired=as_str(model.get("retired")),
        is_legacy=model.get("legacy") is True,
        regional_factor=_dollars(model.get("regional")) or 1.0,
    )


def _dated_prices(prices: Sequence[object]) -> Iterator[DatedPrice]:
    for price in map(as_object, prices):
        parsed = _parse_price(price)
        if parsed is not None:
            yield DatedPrice(as_str(price.get("from")), parsed)


def _parse_price(price: Mapping[str, object]) -> Price | None:
    """Return a price. Tokens from a cache cost as much as others unless there is a price for them."""
    fresh, output = _dollars(price.get("input")), _dollars(price.get("output"))
    if fresh is None or output is None:
        return None
    cached = _dollars(price.get("cached"))
    steps = [
        (int(above), step)
        for above, higher in as_object(price.get("above")).items()
        if above.isdecimal() and (step := _parse_price(as_object(higher))) is not None
    ]
    written = _dollars(price.get("cache_write"))
    return Price(fresh, fresh if cached is None else cached, output, written, tuple(sorted(steps, key=_threshold)))


def _threshold(step: tuple[int, Price]) -> int:
    return step[0]


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= _MAX_PRICE else None

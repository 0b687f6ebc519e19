"""The catalogue that comes with the program and the one that the user has updated."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.text.edit_distance import edit_distance
from tejat.models.catalogue.entries import ModelEntry, ModelTable, own_name
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_object

MAX_CATALOGUE_BYTES = 4_000_000
_MAX_NAME_LENGTH = 64
_MAX_SIMILAR = 3
_DEFAULT_CONTEXT_WINDOW = 128_000
CATALOGUE_FILE = os.path.join(os.path.dirname(__file__), "catalogue.json")


class ChainModel(Frozen):
    """A model of a fallback chain, and how often to ask it; None for the usual number of attempts."""

    name: str
    attempts: int | None = None


class Chain(Frozen):
    """Models to ask one after the other. A silent chain is followed without a question after passing failures."""

    models: tuple[ChainModel, ...]
    is_silent: bool = False


class Route(Frozen):
    """What the router of an `auto` name chooses from, and the model that it asks."""

    pro: str
    flash: str
    classifier: str


class Catalogue:
    """The data of one catalogue file. `source` is its path, "" for the one that comes with the program."""

    def __init__(self, data: Mapping[str, object], source: str = "") -> None:
        self._data = data
        self.source = source
        self.date = as_str(data.get("date"))
        self.models = ModelTable(as_list(data.get("models")))

    @property
    def origin(self) -> str:
        """Names and versions of the data it was made from."""
        sources = as_object(self._data.get("sources"))
        return ", ".join(f"{name} {as_str(version)}".rstrip() for name, version in sources.items())

    @property
    def aliases(self) -> Mapping[str, str]:
        """Model ids by alias."""
        return {alias: as_str(name) for alias, name in as_object(self._data.get("aliases")).items()}

    def similar_models(self, name: str) -> tuple[str, ...]:
        """Return ids of models that are still offered and whose names are close to this one, the closest first."""
        wanted = own_name(name)[:_MAX_NAME_LENGTH]
        offered = (entry.id for entry in self.models if not entry.is_retired(self.date) and entry.id != wanted)
        # Longer names come first: what is missing is most often the end of a name.
        distances = sorted(
            (0 if known.startswith(wanted) else edit_distance(wanted, known), known) for known in offered
        )
        return tuple(known for distance, known in distances[:_MAX_SIMILAR] if distance <= len(known) // 4)

    def route(self, name: str) -> Route | None:
        """Return the route of an `auto` name, None for other names."""
        route = as_object(as_object(self._data.get("routes")).get(name))
        if not route:
            return None
        return Route(as_str(route.get("pro")), as_str(route.get("flash")), as_str(route.get("classifier")))

    def chain(self, name: str) -> Chain:
        """Return the chain of an alias or a Gemini id, its own model first. It has one model if none takes over."""
        model = self.aliases.get(name, name)
        for chain in map(as_object, as_list(self._data.get("chains"))):
            if name in as_list(chain.get("names")) or self._is_of(model, chain):
                links = (_chain_model(as_object(link), model) for link in as_list(chain.get("models")))
                return Chain(tuple(links), chain.get("silent") is True)
        return Chain((ChainModel(model),))

    def _is_of(self, model: str, chain: Mapping[str, object]) -> bool:
        if "family" not in chain:
            return False
        entry = self.models.find(model)
        return entry is not None and (entry.family, entry.tier) == (chain["family"], chain.get("tier"))

    @property
    def gateway_model(self) -> str:
        """The last model of every chain behind an address that is not the service's own."""
        return as_str(self._data.get("gateway"))

    @property
    def first_models(self) -> Mapping[str, str]:
        """The model to begin with, by service."""
        return {service: as_str(name) for service, name in as_object(self._data.get("first_models")).items()}

    def default_window(self, name: str) -> int | None:
        """Return the usual context window of models whose names begin like this one, None if there is none."""
        windows = as_object(self._data.get("windows"))
        beginnings = [beginning for beginning in windows if name.startswith(beginning)]
        return as_count(windows[max(beginnings, key=len)]) if beginnings else None


def _chain_model(link: Mapping[str, object], model: str) -> ChainModel:
    name = as_str(link.get("model"))
    return ChainModel(model if name == "*" else name, as_count(link.get("attempts")) or None)


@cache
def builtin_catalogue() -> Catalogue:
    """Return the catalogue that comes with the program. It is read when it is first asked for."""
    with open(CATALOGUE_FILE, encoding="utf-8") as file:
        return Catalogue(json.load(file))


@cache
def load_catalogue(updated_file: str = "") -> "ModelCatalogue":
    """Return the catalogue of the program with an updated one, if that file exists and is not older.

    Each file is read once. A file that cannot be used is the `problem` of the result.
    """
    builtin = builtin_catalogue()
    try:
        updated = _read_updated(updated_file) if updated_file else None
    except FileNotFoundError:
        updated = None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return ModelCatalogue(builtin, problem=_("Ignoring {path}: {why}.", path=updated_file, why=why))
    return ModelCatalogue(builtin, None if updated is None or updated.date < builtin.date else updated)


def _read_updated(path: str) -> Catalogue:
    """Raises OSError and ValueError."""
    with open(path, "rb") as file:
        data = file.read(MAX_CATALOGUE_BYTES + 1)
    if len(data) > MAX_CATALOGUE_BYTES:
        raise ValueError(_("it is larger than {limit} MB", limit=MAX_CATALOGUE_BYTES // 10**6))
    updated = Catalogue(parse_object(data), path)
    if not re.fullmatch(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])", updated.date):
        raise ValueError(_("it has no date"))
    return updated


class ModelCatalogue(Frozen):
    """All that is known about models: the catalogue of the program, and an updated one if it is newer.

    `problem` says why an updated file is not used, "" if there is none.
    """

    builtin: Catalogue
    updated: Catalogue | None = None
    problem: str = ""

    @property
    def current(self) -> Catalogue:
        """The catalogue whose prices count."""
        return self.builtin if self.updated is None else self.updated

    def find(self, name: str) -> ModelEntry | None:
        """Return what is known about a model: prices of the newer catalogue, the rest as the program knows it."""
        known = self.builtin.models.find(name)
        updated = None if self.updated is None else self.updated.models.find(name)
        if updated is None or known is None:
            return updated or known
        return replace(known, prices=updated.prices or known.prices)

    def context_window(self, name: str) -> int:
        """Return the context window of a model in tokens, or a usual one for an unknown model."""
        entry = self.find(name)
        if entry is not None and entry.context_window is not None:
            return entry.context_window
        return self.builtin.default_window(own_name(name)) or _DEFAULT_CONTEXT_WINDOW

    def __iter__(self) -> Iterator[ModelEntry]:
        """All models; those that only the newer catalogue knows come last."""
        seen: set[str] = set()
        for catalogue in filter(None, (self.builtin, self.updated)):
            for entry in catalogue.models:
                if entry.id not in seen:
                    seen.add(entry.id)
                    yield self.find(entry.id) or entry

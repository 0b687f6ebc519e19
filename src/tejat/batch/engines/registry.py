"""The engines by name. A new one is a module with `open_engine`, and a line here."""

from collections.abc import Mapping
from importlib import import_module

from tejat.batch.engines.contract import OpenEngine

ENGINES: Mapping[str, str] = {
    "local": "tejat.batch.engines.local",
    "ray": "tejat.batch.engines.ray.engine",
}


def find_engine(name: str) -> OpenEngine:
    """The function that opens an engine. Raises KeyError for an unknown name."""
    opener: OpenEngine = import_module(ENGINES[name]).open_engine
    return opener

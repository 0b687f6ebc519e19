"""Functions by the names in plugins.toml."""

import tomllib
from importlib import import_module
from pathlib import Path


def load_plugins(path=Path(__file__).parent.parent / "plugins.toml"):
    """Return the function of every plugin."""
    table = tomllib.loads(Path(path).read_text(encoding="utf-8"))["plugin"]
    found = {}
    for name, target in table.items():
        module, _, attribute = target.partition(":")
        found[name] = getattr(import_module(module), attribute)
    return found

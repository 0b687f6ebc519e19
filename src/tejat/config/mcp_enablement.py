"""Which MCP servers the person has switched off, in a file that Gemini CLI reads too."""

import os
from typing import cast

from tejat.config.lock import locked
from tejat.config.own_file import Writers, read_own_file
from tejat.config.places import Places, private_directory
from tejat.config.settings_edit import lock_of
from tejat.config.write_own_file import write_own_file
from tejat.core.errors import ConfigurationError
from tejat.core.json_text import NotJson, dump_json, load_json
from tejat.core.types import JsonObject, JsonValue
from tejat.core.words import phrase

_FILE_NAME = "mcp-server-enablement.json"
_PATIENCE = 5.0


def disabled_servers(places: Places) -> frozenset[str]:
    """The names of the servers that are switched off, in small letters. Raises ConfigurationError."""
    return frozenset(name for name, entry in _read(places).items() if _is_off(entry))


def is_disabled(alias: str, disabled: frozenset[str]) -> bool:
    return alias.lower() in disabled


def switch_server(places: Places, alias: str, *, on: bool) -> bool:
    """Switch a server on or off for later sessions; whether that changed anything.

    Raises ConfigurationError and UsageError, and OSError where the file cannot be written.
    """
    directory = private_directory(places.gemini)
    path = os.path.join(directory, _FILE_NAME)
    with locked(lock_of(places, path), patience=_PATIENCE):
        known = dict(_read(places))
        if _is_off(known.get(alias.lower())) is not on:
            return False
        if on:
            known.pop(alias.lower())
        else:
            known[alias.lower()] = {"enabled": False}
        write_own_file(path, dump_json(known, indent=2) + "\n")
    return True


def _read(places: Places) -> JsonObject:
    path = os.path.join(places.gemini, _FILE_NAME)
    text = read_own_file(path, writers=Writers.TRUSTED)
    if text is None:
        return {}
    try:
        found = load_json(text)
    except NotJson as error:
        raise ConfigurationError(
            phrase("Cannot read {path}: {why}. Mend it or remove it.", path=path, why=error)
        ) from None
    if not isinstance(found, dict):
        raise ConfigurationError(
            phrase("Cannot read {path}: it must be one object in {{}}. Mend it or remove it.", path=path)
        )
    return {name.lower(): entry for name, entry in cast("JsonObject", found).items()}


def _is_off(entry: JsonValue) -> bool:
    return isinstance(entry, dict) and entry.get("enabled") is False

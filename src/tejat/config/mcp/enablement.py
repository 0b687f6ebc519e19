"""Disabled MCP servers, in a file shared with Gemini CLI."""

from typing import cast

from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths
from tejat.config.settings.editor import settings_lock_path
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.workspace.files.private_files import write_private_file

_LOCK_TIMEOUT = 5.0


def disabled_servers(paths: AppPaths) -> frozenset[str]:
    """The names of disabled servers in lower case. Raises ConfigurationError."""
    return frozenset(name for name, entry in _read(paths).items() if _is_disabled_entry(entry))


def is_disabled(alias: str, disabled: frozenset[str]) -> bool:
    return alias.lower() in disabled


def set_server_enabled(paths: AppPaths, alias: str, *, enabled: bool) -> bool:
    """Enable or disable a server for later sessions, and return whether that changed anything.

    Raises ConfigurationError and UsageError, and OSError if the file cannot be written.
    """
    make_private_directory(paths.gemini)
    path = paths.mcp_enablement
    with file_lock(settings_lock_path(paths, path), timeout=_LOCK_TIMEOUT):
        known = dict(_read(paths))
        if _is_disabled_entry(known.get(alias.lower())) is not enabled:
            return False
        if enabled:
            known.pop(alias.lower())
        else:
            known[alias.lower()] = {"enabled": False}
        write_private_file(path, dump_json(known, indent=2) + "\n")
    return True


def _read(paths: AppPaths) -> JsonObject:
    path = paths.mcp_enablement
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return {}
    try:
        found = load_json(text)
    except InvalidJson as error:
        problem = lazy("Could not read {path}: {why}. Fix it or remove it.", path=path, why=error)
        raise ConfigurationError(problem) from None
    if not isinstance(found, dict):
        problem = lazy("Could not read {path}: it must be an object in {{}}. Fix it or remove it.", path=path)
        raise ConfigurationError(problem)
    return {name.lower(): entry for name, entry in cast("JsonObject", found).items()}


def _is_disabled_entry(entry: JsonValue) -> bool:
    return isinstance(entry, dict) and entry.get("enabled") is False

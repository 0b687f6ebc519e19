"""MCP servers in the file of a sub-agent, as entries in the form of the settings."""

from collections.abc import Mapping
from typing import NamedTuple

from tejat.config.agents.errors import BrokenAgent
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue

_FIELDS = {
    "command": "command",
    "args": "args",
    "env": "env",
    "cwd": "cwd",
    "url": "url",
    "http_url": "httpUrl",
    "headers": "headers",
    "tcp": "tcp",
    "type": "type",
    "timeout": "timeout",
    "description": "description",
    "include_tools": "includeTools",
    "exclude_tools": "excludeTools",
}
"""Names in an agent's file, and those in the settings, which are accepted too."""
_ADDRESSES = ("command", "url", "httpUrl", "tcp")
_LISTS = frozenset({"args", "includeTools", "excludeTools"})
_OBJECTS = frozenset({"env", "headers"})


class AgentServers(NamedTuple):
    """The servers of an agent by name, and notes for the user."""

    entries: Mapping[str, JsonObject]
    notes: tuple[str, ...] = ()


def parse_servers(given: JsonValue) -> AgentServers:
    """Parse the map of servers. Raises BrokenAgent.

    `trust` is dropped: calls of these servers need the same approval as those of others.
    """
    if given is None:
        return AgentServers({})
    if not isinstance(given, Mapping):
        raise BrokenAgent(lazy("mcp_servers must be a map of names to servers"))
    notes: list[str] = []
    entries = {name: _parse_server(name, entry, notes) for name, entry in given.items()}
    return AgentServers(entries, tuple(notes))


def _parse_server(name: str, given: JsonValue, notes: list[str]) -> JsonObject:
    if not isinstance(given, Mapping):
        raise BrokenAgent(lazy("the MCP server {name} must be a map", name=name))
    entry: dict[str, JsonValue] = {}
    unused: list[str] = []
    for key, value in given.items():
        field = _FIELDS.get(key) or (key if key in _FIELDS.values() else None)
        if field is None:
            unused.append(key)
        elif value is not None:
            entry[field] = _check(name, field, value)
    if not any(field in entry for field in _ADDRESSES):
        raise BrokenAgent(lazy("the MCP server {name} has neither command nor url", name=name))
    if unused:
        notes.append(lazy("the MCP server {name}: {keys} has no effect", name=name, keys=", ".join(unused)))
    return entry


def _check(name: str, field: str, value: JsonValue) -> JsonValue:
    """Return the value in the type that the settings want. Raises BrokenAgent."""
    if field in _LISTS:
        items = value if isinstance(value, list) else None
        if items is not None and all(isinstance(item, str | int | float) for item in items):
            return [_to_text(item) for item in items]
        raise BrokenAgent(lazy("the MCP server {name}: {field} must be a list of texts", name=name, field=field))
    if field in _OBJECTS:
        if isinstance(value, Mapping) and all(isinstance(item, str | int | float) for item in value.values()):
            return {key: _to_text(item) for key, item in value.items()}
        raise BrokenAgent(lazy("the MCP server {name}: {field} must be a map of texts", name=name, field=field))
    if field == "timeout":
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return value
        raise BrokenAgent(lazy("the MCP server {name}: timeout must be a number of milliseconds", name=name))
    if isinstance(value, str) and value.strip():
        return value
    raise BrokenAgent(lazy("the MCP server {name}: {field} must be a text", name=name, field=field))


def _to_text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

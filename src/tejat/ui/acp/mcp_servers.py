"""MCP servers that a client wants a session to use."""

from collections.abc import Mapping

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.acp.params import invalid_params
from tejat.ui.jsonrpc.peer import RequestError


def parse_mcp_servers(given: JsonValue) -> dict[str, JsonObject]:
    """Read `mcpServers` of a request into the format of the settings, by name. Raises RequestError."""
    if given is None:
        return {}
    if not isinstance(given, list):
        raise invalid_params("mcpServers must be a list.")
    servers: dict[str, JsonObject] = {}
    for entry in given:
        if not isinstance(entry, Mapping):
            raise invalid_params("An entry of mcpServers must be an object.")
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip():
            raise invalid_params("An MCP server needs a name.")
        if name in servers:
            raise invalid_params(f"There are two MCP servers with the name {name!r}.")
        servers[name] = _parse_server(name, entry)
    return servers


def _parse_server(name: str, entry: JsonObject) -> JsonObject:
    match entry:
        case {"type": "http", "url": str(url)}:
            return {"httpUrl": url, "headers": _parse_pairs(name, entry, "headers")}
        case {"type": "sse", "url": str(url)}:
            return {"url": url, "type": "sse", "headers": _parse_pairs(name, entry, "headers")}
        case {"type": str(kind)} if kind != "stdio":
            raise invalid_params(f"The MCP server {name!r} has an unknown type {kind!r}, or no url.")
        case {"command": str(command)} if command:
            return {"command": command, "args": _parse_arguments(name, entry), "env": _parse_pairs(name, entry, "env")}
        case _:
            raise invalid_params(f"The MCP server {name!r} needs a command, or a type and a url.")


def _parse_arguments(name: str, entry: JsonObject) -> list[JsonValue]:
    arguments = entry.get("args") or []
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise _wrong_list(name, "args", "strings")
    return arguments


def _parse_pairs(name: str, entry: JsonObject, field: str) -> JsonObject:
    """Read a list of objects with a name and a value."""
    pairs: dict[str, JsonValue] = {}
    given = entry.get(field) or []
    for each in given if isinstance(given, list) else [None]:
        match each:
            case {"name": str(key), "value": str(value)} if key:
                pairs[key] = value
            case _:
                raise _wrong_list(name, field, "objects with name and value")
    return pairs


def _wrong_list(name: str, field: str, contents: str) -> RequestError:
    return invalid_params(f"{field} of the MCP server {name!r} must be a list of {contents}.")

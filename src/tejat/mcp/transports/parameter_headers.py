"""Arguments that a tool wants repeated in HTTP headers (`x-mcp-header`, stateless revision)."""

import re
from collections.abc import Iterator, Mapping

from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.transports.http_headers import encode_header_value

_KEYWORD = "x-mcp-header"
_PREFIX = "Mcp-Param-"
_MAX_TOOLS = 2_000
_MAX_SCHEMAS = 10_000
_MAX_DEPTH = 32


class ParameterHeaders:
    """Header declarations of the tools of one server, as listed last."""

    def __init__(self) -> None:
        self._headers: dict[str, dict[tuple[str, ...], str]] = {}

    def learn(self, listed: JsonObject) -> None:
        """Read the declarations from a result of `tools/list`."""
        tools = listed.get("tools")
        for tool in tools if isinstance(tools, list | tuple) else ():
            name = tool.get("name") if isinstance(tool, Mapping) else None
            if isinstance(tool, Mapping) and isinstance(name, str):
                self._headers.pop(name, None)
                headers = dict(_header_properties(tool.get("inputSchema")))
                if headers and len(self._headers) < _MAX_TOOLS:
                    self._headers[name] = headers

    def headers_for_call(self, params: JsonObject) -> dict[str, str]:
        """Return the headers of a `tools/call`. Missing and non-scalar arguments have none."""
        name = params.get("name")
        headers = self._headers.get(name, {}) if isinstance(name, str) else {}
        values = {header: _text(_value_at(params.get("arguments"), path)) for path, header in headers.items()}
        return {header: encode_header_value(text) for header, text in values.items() if text is not None}


def header_problem(schema: JsonValue) -> str | None:
    """Return why the header declarations of a schema are invalid, as a phrase after "it wants", or None."""
    headers: set[str] = set()
    for path, node in _walk_schemas(schema):
        if _KEYWORD not in node:
            continue
        mark = node[_KEYWORD]
        if not path:
            return lazy("a header that is not a separate argument")
        if not isinstance(mark, str) or not _is_header_name(mark):
            return lazy("a header argument with an invalid name")
        if node.get("type") not in _SCALAR_TYPES:
            return lazy("a header argument that is not a string, integer or boolean")
        if mark.lower() in headers:
            return lazy("two arguments in one header")
        headers.add(mark.lower())
    return None


def _walk_schemas(schema: JsonValue) -> Iterator[tuple[tuple[str, ...] | None, JsonObject]]:
    """Yield all schemas in a schema, within limits. The path is None if not only `properties` lead there."""
    waiting: list[tuple[tuple[str, ...] | None, JsonValue]] = [((), schema)]
    for _ in range(_MAX_SCHEMAS):
        if not waiting:
            return
        path, node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        yield path, node
        for word, inner in node.items():
            if word == "properties" and isinstance(inner, Mapping):
                waiting += [(None if path is None else (*path, name), each) for name, each in inner.items()]
            elif word in _SCHEMA_MAPS and isinstance(inner, Mapping):
                waiting += [(None, each) for each in inner.values()]
            elif word in _SCHEMA_LISTS and isinstance(inner, list | tuple):
                waiting += [(None, each) for each in inner]
            elif word in _SUBSCHEMAS:
                waiting.append((None, inner))


_SCALAR_TYPES = ("string", "integer", "boolean")
_SCHEMA_MAPS = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SUBSCHEMAS = frozenset(
    {
        *("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"),
        *("not", "if", "then", "else", "contentSchema"),
    }
)


def _header_properties(schema: JsonValue) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and header of each declared property. Only `properties` are followed."""
    waiting: list[tuple[tuple[str, ...], JsonValue]] = [((), schema)]
    for _ in range(_MAX_SCHEMAS):
        if not waiting:
            return
        path, node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        mark = node.get(_KEYWORD)
        if path and isinstance(mark, str) and _is_header_name(mark):
            yield path, f"{_PREFIX}{mark}"
        properties = node.get("properties")
        if isinstance(properties, Mapping) and len(path) < _MAX_DEPTH:
            waiting += [((*path, name), inner) for name, inner in properties.items()]


def _is_header_name(text: str) -> bool:
    return re.fullmatch(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+", text) is not None


def _value_at(arguments: JsonValue, path: tuple[str, ...]) -> JsonValue:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _text(value: JsonValue) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None

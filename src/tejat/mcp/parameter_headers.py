"""Arguments that a tool wants repeated in headers, for whoever passes its calls on: the stateless revision has that."""

import re
from collections.abc import Iterator, Mapping

from tejat.core.types import JsonObject, JsonValue
from tejat.core.words import phrase
from tejat.mcp.http_headers import header_value

_MARK = "x-mcp-header"
_PREFIX = "Mcp-Param-"
_MOST_TOOLS = 2_000
_MOST_PLACES = 10_000
_DEEPEST = 32


class ParameterHeaders:
    """What the tools of one server want, as they were listed last."""

    def __init__(self) -> None:
        self._wanted: dict[str, dict[tuple[str, ...], str]] = {}

    def learn(self, listed: JsonObject) -> None:
        """Take note of a result of `tools/list`."""
        tools = listed.get("tools")
        for tool in tools if isinstance(tools, list | tuple) else ():
            name = tool.get("name") if isinstance(tool, Mapping) else None
            if isinstance(tool, Mapping) and isinstance(name, str):
                self._wanted.pop(name, None)
                wanted = dict(_marked(tool.get("inputSchema")))
                if wanted and len(self._wanted) < _MOST_TOOLS:
                    self._wanted[name] = wanted

    def of_call(self, params: JsonObject) -> dict[str, str]:
        """The headers of a `tools/call`. An argument that is not given, or is no plain value, has none."""
        name = params.get("name")
        wanted = self._wanted.get(name, {}) if isinstance(name, str) else {}
        found = {header: _text(_value_at(params.get("arguments"), path)) for path, header in wanted.items()}
        return {header: header_value(text) for header, text in found.items() if text is not None}


def problem_with_marks(schema: JsonValue) -> str | None:
    """Why no call can say in headers what a tool with this schema wants there, in words that fit behind "it wants"."""
    headers: set[str] = set()
    for path, node in _positions(schema):
        if _MARK not in node:
            continue
        mark = node[_MARK]
        if not path:
            return phrase("something in a header that is no argument of its own")
        if not isinstance(mark, str) or not _is_name(mark):
            return phrase("an argument in a header whose name is none")
        if node.get("type") not in _PLAIN_TYPES:
            return phrase("an argument in a header that is no text, no whole number and no truth value")
        if mark.lower() in headers:
            return phrase("two arguments in one header")
        headers.add(mark.lower())
    return None


def _positions(schema: JsonValue) -> Iterator[tuple[tuple[str, ...] | None, JsonObject]]:
    """Every schema in a schema, as far as anybody looks. The path is None where more than `properties` leads to it."""
    waiting: list[tuple[tuple[str, ...] | None, JsonValue]] = [((), schema)]
    for _ in range(_MOST_PLACES):
        if not waiting:
            return
        path, node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        yield path, node
        for word, inner in node.items():
            if word == "properties" and isinstance(inner, Mapping):
                waiting += [(None if path is None else (*path, name), each) for name, each in inner.items()]
            elif word in _NAMED_SCHEMAS and isinstance(inner, Mapping):
                waiting += [(None, each) for each in inner.values()]
            elif word in _LISTED_SCHEMAS and isinstance(inner, list | tuple):
                waiting += [(None, each) for each in inner]
            elif word in _INNER_SCHEMAS:
                waiting.append((None, inner))


_PLAIN_TYPES = ("string", "integer", "boolean")
_NAMED_SCHEMAS = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})
_LISTED_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_INNER_SCHEMAS = frozenset(
    {
        *("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"),
        *("not", "if", "then", "else", "contentSchema"),
    }
)


def _marked(schema: JsonValue) -> Iterator[tuple[tuple[str, ...], str]]:
    """The path of each property that carries the mark, and its header. Nothing but `properties` leads to one."""
    waiting: list[tuple[tuple[str, ...], JsonValue]] = [((), schema)]
    for _ in range(_MOST_PLACES):
        if not waiting:
            return
        path, node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        mark = node.get(_MARK)
        if path and isinstance(mark, str) and _is_name(mark):
            yield path, f"{_PREFIX}{mark}"
        properties = node.get("properties")
        if isinstance(properties, Mapping) and len(path) < _DEEPEST:
            waiting += [((*path, name), inner) for name, inner in properties.items()]


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+", text) is not None


def _value_at(arguments: JsonValue, path: tuple[str, ...]) -> JsonValue:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _text(value: JsonValue) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None

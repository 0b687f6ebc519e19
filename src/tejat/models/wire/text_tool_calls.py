"""Tool calls that weak models write as text."""

import json
from collections.abc import Mapping

from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import FunctionDeclaration
from tejat.models.wire.common import tool_names_by_wire_name
from tejat.models.wire.json_access import as_list, as_object
from tejat.models.wire.json_repair import parse_arguments

_OPEN_TAG, _CLOSE_TAG = "<tool_call>", "</tool_call>"


def may_be_tool_calls(text: str) -> bool:
    """Return whether a text with this beginning may consist of tool calls."""
    return _OPEN_TAG.startswith(text.lstrip()[: len(_OPEN_TAG)])


def parse_text_tool_calls(text: str, tools: tuple[FunctionDeclaration, ...]) -> tuple[FunctionCall, ...]:
    """Parse a text that consists of tool calls; empty if it contains anything else.

    A call among other text may be an example or a quotation, and a call of an undeclared tool is a mistake: neither
    counts.
    """
    names = tool_names_by_wire_name(tools)
    schemas = {tool.name: tool.parameters_json_schema for tool in tools}
    calls: list[FunctionCall] = []
    rest = text.strip()
    while rest:
        block, rest = _between(rest, _OPEN_TAG, _CLOSE_TAG)
        call = None if block is None else _parse_json_call(block, names) or _parse_xml_call(block, names, schemas)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _between(text: str, beginning: str, end: str) -> tuple[str | None, str]:
    """Return the text between the two tags at the start, and the rest; None if they are not there."""
    inside, found, rest = text.removeprefix(beginning).partition(end)
    if not text.startswith(beginning) or not found:
        return None, text
    return inside.strip(), rest.lstrip()


def _parse_json_call(block: str, names: Mapping[str, str]) -> FunctionCall | None:
    """Parse `{"name": NAME, "arguments": {...}}`."""
    written = parse_arguments(block) or {}
    name, arguments = written.get("name"), written.get("arguments", {})
    if not isinstance(name, str) or name not in names:
        return None
    read = parse_arguments(arguments if isinstance(arguments, str) else json.dumps(arguments))
    return None if read is None else FunctionCall(names[name], read)


def _parse_xml_call(
    block: str, names: Mapping[str, str], schemas: Mapping[str, Mapping[str, object]]
) -> FunctionCall | None:
    """Parse `<function=NAME> <parameter=KEY>VALUE</parameter> ... </function>`."""
    inside, after = _between(block, "<function=", "</function>")
    if inside is None or after:
        return None
    wire_name, closed, rest = inside.partition(">")
    if not closed or wire_name not in names:
        return None
    name = names[wire_name]
    declared = as_object(schemas[name].get("properties"))
    arguments: dict[str, object] = {}
    rest = rest.lstrip()
    while rest:
        parameter, found, following = rest.removeprefix("<parameter=").partition("</parameter>")
        key, closed, value = parameter.partition(">")
        if not rest.startswith("<parameter=") or not found or not closed:
            return None
        arguments[key] = _convert_value(value.removeprefix("\n").removesuffix("\n"), declared.get(key))
        rest = following.lstrip()
    return FunctionCall(name, arguments)


def _convert_value(written: str, declared: object) -> object:
    """Convert a value to the declared type: XML has no types."""
    kind = as_object(declared).get("type", "string")
    kinds = as_list(kind) or (kind,)
    if "string" in kinds:
        return written
    try:
        return load_json(written.strip().lower() if "boolean" in kinds else written)
    except InvalidJson:
        return written

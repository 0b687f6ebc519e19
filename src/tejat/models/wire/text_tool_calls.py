"""Tool calls as text: those that weak models write, and all of them where a server drops tools."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.models.wire.common import object_schema, tool_names_by_wire_name, wire_name
from tejat.models.wire.json_access import as_list, as_object
from tejat.models.wire.json_repair import parse_arguments

OPEN_TAG = "<tool_call>"
"""The beginning of a call."""

_CLOSE_TAG = "</tool_call>"
_INSTRUCTION = """\
# Tools

You act by calling these functions, each given as JSON:

<tools>
{tools}
</tools>

To call one, end your message with this and nothing after it:

<tool_call>
{{"name": "NAME", "arguments": {{"KEY": "VALUE"}}}}
</tool_call>

Its result comes in the next message, between <tool_response> and </tool_response>."""


def tools_prompt(tools: Sequence[FunctionDeclaration]) -> str:
    """Return the instruction how to call these tools in text."""
    return _INSTRUCTION.format(tools="\n".join(dump_json(_describe_tool(tool)) for tool in tools))


def _describe_tool(tool: FunctionDeclaration) -> JsonObject:
    parameters = object_schema(tool.parameters_json_schema)
    return {"name": wire_name(tool.name), "description": tool.description, "parameters": parameters}


def write_calls(calls: Sequence[FunctionCall]) -> str:
    """Return calls as a model writes them."""
    objects: list[JsonObject] = [
        {"name": wire_name(call.name), "arguments": cast("JsonObject", call.args)} for call in calls
    ]
    return "\n".join(f"{OPEN_TAG}\n{dump_json(value)}\n{_CLOSE_TAG}" for value in objects)


def write_result(name: str, text: str) -> str:
    """Return the result of a call, for a model whose calls are text."""
    return f"<tool_response>\n{wire_name(name)}: {text}\n</tool_response>"


def may_be_tool_calls(text: str) -> bool:
    """Return whether a text with this beginning may consist of tool calls."""
    return OPEN_TAG.startswith(text.lstrip()[: len(OPEN_TAG)])


def split_before_calls(text: str) -> int:
    """Return where a tool call begins in a text, or may begin at its end; the length of the text if nowhere."""
    begin = text.find(OPEN_TAG)
    if begin >= 0:
        return begin
    longest = min(len(text), len(OPEN_TAG) - 1)
    return next((len(text) - size for size in range(longest, 0, -1) if OPEN_TAG.startswith(text[-size:])), len(text))


def parse_text_tool_calls(
    text: str, tools: tuple[FunctionDeclaration, ...], *, ignores_rest: bool = False
) -> tuple[FunctionCall, ...]:
    """Parse a text that consists of tool calls; empty if it contains anything else.

    A call among other text may be an example or a quotation, and a call of an undeclared tool is a mistake: neither
    counts. With `ignores_rest` what follows the first calls is ignored, and the last one need not be closed.
    """
    names = tool_names_by_wire_name(tools)
    schemas = {tool.name: tool.parameters_json_schema for tool in tools}
    calls: list[FunctionCall] = []
    rest = text.strip()
    while rest:
        if ignores_rest and calls and not rest.startswith(OPEN_TAG):
            break
        if ignores_rest and _CLOSE_TAG not in rest:
            rest += _CLOSE_TAG
        block, rest = _between(rest, OPEN_TAG, _CLOSE_TAG)
        call = None if block is None else _parse_json_call(block, names) or _parse_xml_call(block, names, schemas)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _between(text: str, start: str, end: str) -> tuple[str | None, str]:
    """Return the text between the two tags at the start, and the rest; None if they are not there."""
    inside, found, rest = text.removeprefix(start).partition(end)
    if not text.startswith(start) or not found:
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

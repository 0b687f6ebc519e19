"""Calls that a weak model wrote down as text instead of making them."""

import json
from collections.abc import Mapping

from tejat.core.json_text import NotJson, load_json
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FunctionCall
from tejat.models.json_shapes import items_of, object_of
from tejat.models.loose_json import read_arguments
from tejat.models.portable import names_by_wire

_BEGINNING, _END = "<tool_call>", "</tool_call>"


def may_become_calls(text: str) -> bool:
    """Whether an answer that begins like this may still turn out to be nothing but calls."""
    return _BEGINNING.startswith(text.lstrip()[: len(_BEGINNING)])


def written_calls(text: str, tools: tuple[FunctionDeclaration, ...]) -> tuple[FunctionCall, ...]:
    """The calls that the whole answer consists of, none if it holds anything else.

    A call that stands among other words may be an example or somebody else's text, and one of a tool that was not
    offered is a mistake: neither is taken for a call.
    """
    names = names_by_wire(tools)
    schemas = {tool.name: tool.parameters_json_schema for tool in tools}
    calls: list[FunctionCall] = []
    rest = text.strip()
    while rest:
        block, rest = _between(rest, _BEGINNING, _END)
        call = None if block is None else _from_json(block, names) or _from_elements(block, names, schemas)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _between(text: str, beginning: str, end: str) -> tuple[str | None, str]:
    """What stands between the two at the start of the text, and what follows; None if they are not there."""
    inside, found, rest = text.removeprefix(beginning).partition(end)
    if not text.startswith(beginning) or not found:
        return None, text
    return inside.strip(), rest.lstrip()


def _from_json(block: str, names: Mapping[str, str]) -> FunctionCall | None:
    """`{"name": NAME, "arguments": {...}}`"""
    written = read_arguments(block) or {}
    name, arguments = written.get("name"), written.get("arguments", {})
    if not isinstance(name, str) or name not in names:
        return None
    read = read_arguments(arguments if isinstance(arguments, str) else json.dumps(arguments))
    return None if read is None else FunctionCall(names[name], read)


def _from_elements(
    block: str, names: Mapping[str, str], schemas: Mapping[str, Mapping[str, object]]
) -> FunctionCall | None:
    """`<function=NAME> <parameter=KEY>VALUE</parameter> ... </function>`"""
    inside, after = _between(block, "<function=", "</function>")
    if inside is None or after:
        return None
    wire_name, closed, rest = inside.partition(">")
    if not closed or wire_name not in names:
        return None
    name = names[wire_name]
    declared = object_of(schemas[name].get("properties"))
    arguments: dict[str, object] = {}
    rest = rest.lstrip()
    while rest:
        parameter, found, following = rest.removeprefix("<parameter=").partition("</parameter>")
        key, closed, value = parameter.partition(">")
        if not rest.startswith("<parameter=") or not found or not closed:
            return None
        arguments[key] = _typed(value.removeprefix("\n").removesuffix("\n"), declared.get(key))
        rest = following.lstrip()
    return FunctionCall(name, arguments)


def _typed(written: str, declared: object) -> object:
    """The value as the tool declares it: elements have no types of their own."""
    kind = object_of(declared).get("type", "string")
    kinds = items_of(kind) or (kind,)
    if "string" in kinds:
        return written
    try:
        return load_json(written.strip().lower() if "boolean" in kinds else written)
    except NotJson:
        return written

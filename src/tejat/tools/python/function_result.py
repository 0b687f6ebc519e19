"""Return values of Python functions as tool results."""

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeGuard, cast

from tejat.core.json_text import dump_json
from tejat.core.messages.types import FileData, FunctionResponse, InlineData, JsonValue, Part, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.hints.standard_types import standard_to_json

_PARTS = (Text, InlineData, FileData, FunctionResponse)


def to_tool_result(returned: object) -> ToolResult:
    """Convert a return value to a tool result.

    A list that contains parts is a list of parts, any other list is JSON; None is a success without content. Dates,
    paths and the like are written as text, pydantic models as they dump themselves. Raises TypeError and ValueError for
    values that cannot be written as JSON.
    """
    match returned:
        case ToolResult():
            return returned
        case None:
            return ToolResult([])
        case str():
            return ToolResult(returned, returned)
        case Text() | InlineData() | FileData() | FunctionResponse():
            return ToolResult(returned)
        case _ if _contains_parts(returned):
            return ToolResult(returned)
        case _:
            text = dump_json(_to_json(returned))
            return ToolResult(text, text)


def _contains_parts(returned: object) -> "TypeGuard[list[str | Part] | tuple[str | Part, ...]]":
    if not isinstance(returned, list | tuple):
        return False
    items = cast("list[object]", returned)
    return any(isinstance(item, _PARTS) for item in items) and all(isinstance(item, (str, *_PARTS)) for item in items)


def _to_json(given: object) -> JsonValue:
    if isinstance(given, Enum):
        return _to_json(given.value)
    if given is None or isinstance(given, str | int | float):
        return given
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        return {field.name: _to_json(getattr(given, field.name)) for field in dataclasses.fields(given)}
    if isinstance(given, Mapping):
        return {_to_json_key(key): _to_json(item) for key, item in cast("Mapping[object, object]", given).items()}
    if isinstance(given, list | tuple):
        return [_to_json(item) for item in cast("list[object]", given)]
    if isinstance(given, set | frozenset):
        # Sorted, so that the same set reads the same in every run.
        return sorted((_to_json(item) for item in cast("set[object]", given)), key=dump_json)
    text = standard_to_json(given)
    if text is not None:
        return text
    if hasattr(given, "model_dump"):  # a pydantic model
        return cast("JsonValue", cast("Any", given).model_dump(mode="json"))
    raise TypeError(f"the function returned {type(given).__name__}, which cannot be written as JSON")


def _to_json_key(key: object) -> str:
    plain = _to_json(key)
    return plain if isinstance(plain, str) else dump_json(plain)

"""Conversion of tool results to the FunctionResponse parts that the model receives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.core.errors import ErrorType
from tejat.core.json_text import dump_json
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    JsonValue,
    Part,
    PartListUnion,
    Text,
    part_to_json,
)

if TYPE_CHECKING:
    from tejat.core.tools.base import ToolError, ToolResult

SUCCESS_MESSAGE = "Tool execution succeeded."


def build_response(call: FunctionCall, result: ToolResult) -> tuple[Part, ...]:
    """Build the response to a call, followed by the parts that do not fit inside it."""
    if result.error is not None:
        return (_response(call, _error_response(result.error, result.llm_content)),)
    return _build_content(call, result.llm_content)


def _error_response(error: ToolError, partial: PartListUnion) -> JsonObject:
    """Build the response to a failed call, with partial output if the call was cut short."""
    fields: dict[str, JsonValue] = {"error": error.message}
    if error.type in _ERRORS_WITH_OUTPUT and isinstance(partial, str) and partial not in ("", error.message):
        fields["output"] = partial
    return fields


_ERRORS_WITH_OUTPUT = frozenset({ErrorType.CANCELLED, ErrorType.TIMEOUT, ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR})


def _build_content(call: FunctionCall, content: PartListUnion) -> tuple[Part, ...]:
    if isinstance(content, Sequence) and not isinstance(content, str):
        if len(content) != 1:
            return _output_response(call, SUCCESS_MESSAGE), *(_additional_part(item) for item in content)
        content = content[0]
    match content:
        case str():
            return (_output_response(call, content),)
        case Text(text):
            return (_output_response(call, text),)
        case InlineData(mime_type) | FileData(mime_type):
            return _output_response(call, f"Binary content of type {mime_type or 'unknown'} was processed."), content
        case FunctionResponse(response=response):
            inner = response.get("content")
            if inner:
                return (_output_response(call, _content_text(inner)),)
            return (_response(call, response) if _is_json(response) else _output_response(call, str(response)),)


def _additional_part(item: str | Part) -> Part:
    """Convert content that follows the response. A second FunctionResponse becomes text."""
    match item:
        case str():
            return Text(item)
        case FunctionResponse(response=response):
            return Text(dump_json(part_to_json(item)) if _is_json(response) else str(response))
        case _:
            return item


def _is_json(response: JsonObject) -> bool:
    """Whether the response can be encoded. External tools may return anything."""
    try:
        dump_json(response)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _content_text(content: JsonValue) -> str:
    """Join the texts in the content of a response: `[{"text": "..."}, ...]`."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else [content]
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _output_response(call: FunctionCall, text: str) -> FunctionResponse:
    return _response(call, {"output": text})


def _response(call: FunctionCall, response: JsonObject) -> FunctionResponse:
    return FunctionResponse(call.name, response, call.id)

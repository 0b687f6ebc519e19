"""The result of `tools/call`."""

import base64
from collections.abc import Iterator, Sequence

from tejat.core.errors import ErrorType
from tejat.core.json_text import dump_json
from tejat.core.messages.types import (
    FileData,
    FunctionResponse,
    InlineData,
    JsonObject,
    JsonValue,
    Part,
    PartListUnion,
    Text,
)
from tejat.core.tools.base import ToolResult
from tejat.core.tools.todos import TodoList

_FIRST_WITH_AUDIO = "2025-03-26"
_FIRST_WITH_LINKS = FIRST_WITH_STRUCTURE = "2025-06-18"
_PARTIAL_RESULT_ERRORS = frozenset({ErrorType.CANCELLED, ErrorType.TIMEOUT})


def call_result(result: ToolResult, revision: str) -> dict[str, JsonValue]:
    """Convert a tool result to the content blocks of this revision. Failures are content too: the model can react."""
    if result.error is None:
        content: dict[str, JsonValue] = {"content": list(_blocks(result.llm_content, revision)), "isError": False}
        if isinstance(result.return_display, TodoList) and revision >= FIRST_WITH_STRUCTURE:
            content["structuredContent"] = result.return_display.to_json()
        return content
    return {"content": [_text(words) for words in _error_texts(result)], "isError": True}


def error_result(message: str) -> dict[str, JsonValue]:
    """Return the result for a call that could not be started."""
    return {"content": [_text(message)], "isError": True}


def _error_texts(result: ToolResult) -> Iterator[str]:
    """Yield the error for the model. A policy violation uses the display text, which names the rule."""
    assert result.error is not None
    message, partial = result.error.message, result.llm_content
    display = result.return_display
    is_denied = result.error.type is ErrorType.POLICY_VIOLATION
    yield display if is_denied and isinstance(display, str) and display.startswith(message) else message
    if result.error.type in _PARTIAL_RESULT_ERRORS and isinstance(partial, str) and partial not in ("", message):
        yield partial


def _blocks(content: PartListUnion, revision: str) -> Iterator[JsonObject]:
    items = content if isinstance(content, Sequence) and not isinstance(content, str) else [content]
    for index, item in enumerate(items):
        yield _text(item) if isinstance(item, str) else _block(item, index, revision)


def _block(part: Part, index: int, revision: str) -> JsonObject:
    match part:
        case Text(text):
            return _text(text)
        case InlineData(mime_type, data):
            return _media(mime_type, base64.b64encode(data).decode("ascii"), index, revision)
        case FileData(mime_type, file_uri) if revision >= _FIRST_WITH_LINKS:
            return {"type": "resource_link", "uri": file_uri, "name": file_uri, "mimeType": mime_type}
        case FileData(_, file_uri):
            return _text(file_uri)
        case FunctionResponse(response=response):
            return _text(dump_json(response))


def _media(mime_type: str, data: str, index: int, revision: str) -> JsonObject:
    family = mime_type.partition("/")[0]
    if family == "image" or (family == "audio" and revision >= _FIRST_WITH_AUDIO):
        return {"type": family, "data": data, "mimeType": mime_type}
    # A resource needs a URI, though this one cannot be read.
    resource = {"uri": f"tejat://result/{index}", "mimeType": mime_type or "application/octet-stream", "blob": data}
    return {"type": "resource", "resource": resource}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}

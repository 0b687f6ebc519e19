"""Conversion of `tools/call` results to `ToolResult`.

The model gets structured content as JSON unless a block says the same. It is not validated against the output schema: a
readable result is worth more than a valid one.
"""

from collections.abc import Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import join_lazy, lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.tools.base import ToolError, ToolResult, failure_result
from tejat.mcp.content.blocks import ContentBlock, ContentPiece, ContentTooLarge, ServerText, parse_content, strip_media
from tejat.mcp.content.untrusted import wrap_untrusted

_UNPARSABLE = "[Error: Could not parse tool response]"


def parse_tool_result(answer: JsonObject, *, tool: str, arguments: JsonObject) -> ToolResult:
    """Convert the result of `tools/call`. `tool` is its name on the server. Never raises.

    Server text is marked as untrusted for the model; the display is as the server wrote it. Adjacent texts are joined,
    so that they fit into the response of the call.
    """
    if _is_error(answer):
        return _error_result(answer, tool, arguments)
    content, structured = answer.get("content"), answer.get("structuredContent")
    if not isinstance(content, list):
        if structured is None:
            return ToolResult(_UNPARSABLE, _fenced(answer))
        content = []
    try:
        blocks = parse_content(content, source=f"Tool '{tool}'")
    except ContentTooLarge as error:
        message = f"The result of MCP tool '{tool}' is too large: it holds {error}. Ask for less, or for parts of it."
        return failure_result(ToolFailure(message, ErrorType.MCP_TOOL_ERROR))
    pieces = [piece for block in blocks for piece in block.pieces]
    if structured is not None and not _is_in_content(structured, pieces):
        pieces.append(ServerText(_json(structured)))
    parts = _parts(pieces)
    only = parts[0] if len(parts) == 1 else None
    return ToolResult(only.text if isinstance(only, Text) else parts, _display(blocks, structured))


def _is_error(answer: JsonObject) -> bool:
    match answer:
        case {"isError": True} | {"error": {"isError": True}}:
            return True
        case {"isError": str(said)} | {"error": {"isError": str(said)}}:
            return said.lower() == "true"
        case _:
            return False


def _error_result(answer: JsonObject, tool: str, arguments: JsonObject) -> ToolResult:
    """Convert an error result. The display has the server's own text, if any."""
    call = _json({"name": tool, "args": arguments})
    message = f"MCP tool '{tool}' reported tool error for function call: {call} with response: {_without_media(answer)}"
    content = answer.get("content")
    words = [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    display = join_lazy("\n", (lazy("Error: MCP tool '{tool}' reported an error.", tool=tool), *map(str, words)))
    return ToolResult(message, display, ToolError(message, ErrorType.MCP_TOOL_ERROR))


def _without_media(answer: JsonObject) -> str:
    try:
        return _json(strip_media(answer))
    except RecursionError:
        return _TOO_DEEP


_TOO_DEEP = "(it is nested too deeply to be told)"


def _json(given: JsonValue, *, indent: int | None = None) -> str:
    try:
        return dump_json(given, indent=indent)
    except RecursionError:
        return _TOO_DEEP


def _fenced(given: JsonValue) -> str:
    return f"```json\n{_json(given, indent=2)}\n```"


def _is_in_content(structured: JsonValue, pieces: Sequence[ContentPiece]) -> bool:
    """Return whether the blocks contain the structured content, in one of them or item by item."""
    texts = [piece.text for piece in pieces if isinstance(piece, ServerText)]
    candidates = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        (name, inner), *_ = structured.items()
        # Non-objects are usually wrapped under this name; a text is the same under any name.
        if name == "result" or isinstance(inner, str):
            candidates.append(inner)
    for candidate in candidates:
        if any(_equals(text, candidate) for text in texts):
            return True
        if isinstance(candidate, list) and len(candidate) == len(texts):
            return all(_equals(text, item) for text, item in zip(texts, candidate, strict=True))
    return False


def _equals(text: str, candidate: JsonValue) -> bool:
    if text == candidate:
        return True
    try:
        return load_json(text) == candidate
    except (InvalidJson, RecursionError):
        return False


def _parts(pieces: Sequence[ContentPiece]) -> list[Part]:
    parts: list[Part] = []
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, ServerText):
            texts.append(piece.text)
            continue
        parts += _wrap_text(texts)
        texts = []
        parts.append(piece if isinstance(piece, InlineData) else Text(piece.text))
    return parts + _wrap_text(texts)


def _wrap_text(texts: Sequence[str]) -> list[Part]:
    return [Text(wrap_untrusted("\n".join(texts)))] if texts else []


def _display(blocks: Sequence[ContentBlock], structured: JsonValue) -> str:
    if blocks:
        return "\n".join(block.display for block in blocks)
    return _fenced([] if structured is None else structured)

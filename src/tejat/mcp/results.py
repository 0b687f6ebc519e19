"""What a server's tool answered, as a result of ours: `llm_content` for the model, `return_display` for the person.

A server may give structured content beside its blocks; the model gets it as JSON where no block says the same. What a
tool declared about its output is not held against it: a result that the model can read is worth more than a form.
"""

from collections.abc import Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import NotJson, dump_json, load_json
from tejat.core.tool import ToolError, ToolResult, failed
from tejat.core.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.words import joined, phrase
from tejat.mcp.blocks import Block, Piece, Said, TooLarge, read_blocks, without_media
from tejat.mcp.untrusted import untrusted

_UNREADABLE = "[Error: Could not parse tool response]"


def result_of(answer: JsonObject, *, tool: str, arguments: JsonObject) -> ToolResult:
    """What the answer to `tools/call` comes to. `tool` is its name at the server. Raises nothing.

    What the server said is marked for the model (see `untrusted`), the display is as the server wrote it. All that it
    said in a row is one text, so that it fits into the response of the call.
    """
    if _reports_error(answer):
        return _reported_error(answer, tool, arguments)
    content, structured = answer.get("content"), answer.get("structuredContent")
    if not isinstance(content, list):
        if structured is None:
            return ToolResult(_UNREADABLE, _fenced(answer))
        content = []
    try:
        blocks = read_blocks(content, giver=f"Tool '{tool}'")
    except TooLarge as error:
        told = f"The result of MCP tool '{tool}' is too large: it holds {error}. Ask for less, or for parts of it."
        return failed(ToolFailure(told, ErrorType.MCP_TOOL_ERROR))
    pieces = [piece for block in blocks for piece in block.pieces]
    if structured is not None and not _is_said(structured, pieces):
        pieces.append(Said(_json(structured)))
    parts = _parts(pieces)
    only = parts[0] if len(parts) == 1 else None
    return ToolResult(only.text if isinstance(only, Text) else parts, _display(blocks, structured))


def _reports_error(answer: JsonObject) -> bool:
    match answer:
        case {"isError": True} | {"error": {"isError": True}}:
            return True
        case {"isError": str(said)} | {"error": {"isError": str(said)}}:
            return said.lower() == "true"
        case _:
            return False


def _reported_error(answer: JsonObject, tool: str, arguments: JsonObject) -> ToolResult:
    """The person is told in the server's words what went wrong, as far as it used words."""
    call = _json({"name": tool, "args": arguments})
    told = f"MCP tool '{tool}' reported tool error for function call: {call} with response: {_without_media(answer)}"
    content = answer.get("content")
    words = [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    display = joined("\n", (phrase("Error: MCP tool '{tool}' reported an error.", tool=tool), *map(str, words)))
    return ToolResult(told, display, ToolError(told, ErrorType.MCP_TOOL_ERROR))


def _without_media(answer: JsonObject) -> str:
    try:
        return _json(without_media(answer))
    except RecursionError:
        return _NESTED


_NESTED = "(it is nested too deeply to be told)"


def _json(given: JsonValue, *, indent: int | None = None) -> str:
    try:
        return dump_json(given, indent=indent)
    except RecursionError:
        return _NESTED


def _fenced(given: JsonValue) -> str:
    return f"```json\n{_json(given, indent=2)}\n```"


def _is_said(structured: JsonValue, pieces: Sequence[Piece]) -> bool:
    """Whether the blocks say what the structured content says: in one of them, or item by item."""
    texts = [piece.text for piece in pieces if isinstance(piece, Said)]
    candidates = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        (name, inner), *_ = structured.items()
        # What is no object is put into one, by most under this name; a text is the same text under any name.
        if name == "result" or isinstance(inner, str):
            candidates.append(inner)
    for candidate in candidates:
        if any(_says(text, candidate) for text in texts):
            return True
        if isinstance(candidate, list) and len(candidate) == len(texts):
            return all(_says(text, item) for text, item in zip(texts, candidate, strict=True))
    return False


def _says(text: str, candidate: JsonValue) -> bool:
    if text == candidate:
        return True
    try:
        return load_json(text) == candidate
    except (NotJson, RecursionError):
        return False


def _parts(pieces: Sequence[Piece]) -> list[Part]:
    parts: list[Part] = []
    said: list[str] = []
    for piece in pieces:
        if isinstance(piece, Said):
            said.append(piece.text)
            continue
        parts += _marked(said)
        said = []
        parts.append(piece if isinstance(piece, InlineData) else Text(piece.text))
    return parts + _marked(said)


def _marked(said: Sequence[str]) -> list[Part]:
    return [Text(untrusted("\n".join(said)))] if said else []


def _display(blocks: Sequence[Block], structured: JsonValue) -> str:
    if blocks:
        return "\n".join(block.shown for block in blocks)
    return _fenced([] if structured is None else structured)

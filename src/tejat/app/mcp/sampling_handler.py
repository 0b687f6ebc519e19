"""MCP sampling: lets a permitted server ask the model of the session."""

import base64
from collections.abc import Mapping

from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.model import AskModel, FinishReason, ModelFailure, ModelRequest, ModelResponse
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import INTERNAL_ERROR, INVALID_PARAMS

_MAX_MESSAGES = 200
_ROLES = {"user": Role.USER, "assistant": Role.MODEL}


async def handle_sampling_request(ask: AskModel, alias: str, params: JsonObject) -> JsonObject:
    """Answer a sampling request without tools. Raises McpFailure that is sent to the server."""
    system, most = params.get("systemPrompt"), params.get("maxTokens")
    request = ModelRequest(
        messages=_messages(params.get("messages")),
        system=system if isinstance(system, str) else "",
        max_output_tokens=most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None,
        purpose=f"sampling for MCP server {alias}",
    )
    try:
        answer = await ask(request)
    except ModelFailure as failure:
        raise McpFailure("The model did not answer.", McpProblem.REFUSED, code=INTERNAL_ERROR) from failure
    return _result(answer)


def _messages(given: JsonValue) -> tuple[Message, ...]:
    """Parse messages and merge neighbours of the same role, because model services need alternating roles."""
    if not isinstance(given, list) or not given or len(given) > _MAX_MESSAGES:
        raise _invalid_request(f"messages must be a list of 1 to {_MAX_MESSAGES}")
    messages: list[Message] = []
    for item in given:
        role = _ROLES.get(str(item.get("role"))) if isinstance(item, Mapping) else None
        if role is None or not isinstance(item, Mapping):
            raise _invalid_request("a message must have the role user or assistant")
        content = item.get("content")
        parts = tuple(map(_part, content if isinstance(content, list) else [content]))
        if Message(role, parts).is_empty:
            raise _invalid_request("a message must have content")
        if messages and messages[-1].role is role:
            messages[-1] = Message(role, (*messages[-1].parts, *parts))
        else:
            messages.append(Message(role, parts))
    if messages[0].role is not Role.USER or messages[-1].role is not Role.USER:
        raise _invalid_request("the first and the last message must be the user's")
    return tuple(messages)


def _part(content: JsonValue) -> Part:
    match content:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime_type)}:
            try:
                return InlineData(mime_type, base64.b64decode(data, validate=True))
            except ValueError:
                raise _invalid_request("the data of a medium must be base64") from None
        case _:
            raise _invalid_request("the content of a message must be text, an image or audio")


def _result(answer: ModelResponse) -> JsonObject:
    reason = "maxTokens" if answer.reason is FinishReason.MAX_TOKENS else "endTurn"
    return {
        "role": "assistant",
        "content": {"type": "text", "text": answer.text},
        "model": answer.model or "unknown",
        "stopReason": reason,
    }


def _invalid_request(why: str) -> McpFailure:
    return McpFailure(f"This cannot be asked of the model: {why}.", McpProblem.REFUSED, code=INVALID_PARAMS)

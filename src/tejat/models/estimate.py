"""How many tokens a request has, guessed without asking anybody."""

from math import ceil
from typing import assert_never, cast

from tejat.core.history import Message
from tejat.core.json_text import dump_json
from tejat.core.model import ModelRequest
from tejat.core.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    MessagePart,
    Opaque,
    Params,
    Text,
    Thought,
)

_BYTES_PER_TOKEN = 3
"""Fewer than any usual text has, so that the guess is rather too high."""
_MEDIA_TOKENS = (258, 50_000)
"""The least and the most that a picture, a recording or a document may count."""
_BYTES_PER_MEDIA_TOKEN = 100
_MESSAGE_TOKENS = 4


def estimate_tokens(request: ModelRequest) -> int:
    """A count that is rather too high than too low."""
    tools = sum(_of_json(tool.to_json()) for tool in request.tools)
    return _of_text(request.system) + tools + sum(map(_of_message, request.messages))


def _of_message(message: Message) -> int:
    return _MESSAGE_TOKENS + sum(map(_of_part, message.parts))


def _of_part(part: MessagePart) -> int:
    match part:
        case Text(text, signature) | Thought(text, signature):
            return _of_text(text) + _of_text(signature or "")
        case InlineData(_, data):
            least, most = _MEDIA_TOKENS
            return max(least, min(most, len(data) // _BYTES_PER_MEDIA_TOKEN))
        case FileData():
            return _MEDIA_TOKENS[1]
        case FunctionCall(name, args, _, signature):
            return _of_text(name) + _of_json(args) + _of_text(signature or "")
        case FunctionResponse(name, response):
            return _of_text(name) + _of_json(response)
        case Opaque(_, value):
            return _of_json(value)
        case _:
            assert_never(part)


def _of_text(text: str) -> int:
    return ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _of_json(value: Params) -> int:
    return _of_text(dump_json(cast("JsonObject", value)))

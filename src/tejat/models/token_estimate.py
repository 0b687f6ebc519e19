"""How many tokens a request has, guessed without asking anybody."""

from math import ceil
from typing import assert_never, cast

from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message
from tejat.core.messages.types import (
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
from tejat.core.model import ModelRequest

_BYTES_PER_TOKEN = 3
"""Fewer than any usual text has, so that the guess is rather too high."""
_MEDIA_TOKENS = (258, 50_000)
"""The least and the most that a picture, a recording or a document may count."""
_BYTES_PER_MEDIA_TOKEN = 100
_TOKENS_PER_MESSAGE = 4


def estimate_tokens(request: ModelRequest) -> int:
    """A count that is rather too high than too low."""
    tools = sum(_json_tokens(tool.to_json()) for tool in request.tools)
    return _text_tokens(request.system) + tools + sum(map(_message_tokens, request.messages))


def _message_tokens(message: Message) -> int:
    return _TOKENS_PER_MESSAGE + sum(map(_part_tokens, message.parts))


def _part_tokens(part: MessagePart) -> int:
    match part:
        case Text(text, signature) | Thought(text, signature):
            return _text_tokens(text) + _text_tokens(signature or "")
        case InlineData(_, data):
            least, most = _MEDIA_TOKENS
            return max(least, min(most, len(data) // _BYTES_PER_MEDIA_TOKEN))
        case FileData():
            return _MEDIA_TOKENS[1]
        case FunctionCall(name, args, _, signature):
            return _text_tokens(name) + _json_tokens(args) + _text_tokens(signature or "")
        case FunctionResponse(name, response):
            return _text_tokens(name) + _json_tokens(response)
        case Opaque(_, value):
            return _json_tokens(value)
        case _:
            assert_never(part)


def _text_tokens(text: str) -> int:
    return ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _json_tokens(value: Params) -> int:
    return _text_tokens(dump_json(cast("JsonObject", value)))

"""About how many tokens messages have, where nobody has counted them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never, cast

from tejat.core.messages.history import Message
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    MessagePart,
    Opaque,
    Text,
    Thought,
)

_MIN_MEDIA_TOKENS = 258
_MEDIA_BYTES_PER_TOKEN = 500


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Four characters of ASCII are a token, any other character is one; media count by their size."""
    return sum(map(_estimate_part, (part for message in messages for part in message.parts)))


def _estimate_part(part: MessagePart) -> int:
    match part:
        case Text(text):
            return estimate_text_tokens(text)
        case InlineData(_, data):
            return _MIN_MEDIA_TOKENS + len(data) // _MEDIA_BYTES_PER_TOKEN
        case FileData():
            return _MIN_MEDIA_TOKENS
        case FunctionCall(name, args, _, signature):
            return estimate_text_tokens(name) + _estimate_value(args) + estimate_text_tokens(signature or "")
        case FunctionResponse(name, response):
            return estimate_text_tokens(name) + _estimate_value(response)
        case Thought(text, signature):
            # A thought goes back only with its signature.
            return estimate_text_tokens(text) + estimate_text_tokens(signature) if signature else 0
        case Opaque(_, value):
            return _estimate_value(value)
        case _:
            assert_never(part)


def _estimate_value(value: object) -> int:
    """Any JSON value, however deeply it is nested."""
    tokens = 0
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            tokens += estimate_text_tokens(item)
        elif isinstance(item, Mapping):
            members = cast("Mapping[object, object]", item)
            left += [*members.keys(), *members.values()]
        elif isinstance(item, Sequence):
            left += cast("Sequence[object]", item)
        else:
            tokens += 1
    return tokens

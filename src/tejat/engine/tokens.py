"""About how many tokens messages have, where nobody has counted them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never, cast

from tejat.core.history import Message
from tejat.core.tokens import estimate_text
from tejat.core.types import FileData, FunctionCall, FunctionResponse, InlineData, MessagePart, Opaque, Text, Thought

_LEAST_FOR_MEDIA = 258
_BYTES_A_TOKEN_OF_MEDIA = 500


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Four characters of ASCII are a token, any other character is one; media count by their size."""
    return sum(map(_tokens_of, (part for message in messages for part in message.parts)))


def _tokens_of(part: MessagePart) -> int:
    match part:
        case Text(text):
            return estimate_text(text)
        case InlineData(_, data):
            return _LEAST_FOR_MEDIA + len(data) // _BYTES_A_TOKEN_OF_MEDIA
        case FileData():
            return _LEAST_FOR_MEDIA
        case FunctionCall(name, args, _, signature):
            return estimate_text(name) + _tokens_of_value(args) + estimate_text(signature or "")
        case FunctionResponse(name, response):
            return estimate_text(name) + _tokens_of_value(response)
        case Thought(text, signature):
            # A thought goes back only with its signature.
            return estimate_text(text) + estimate_text(signature) if signature else 0
        case Opaque(_, value):
            return _tokens_of_value(value)
        case _:
            assert_never(part)


def _tokens_of_value(value: object) -> int:
    """Any JSON value, however deeply it is nested."""
    tokens = 0
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            tokens += estimate_text(item)
        elif isinstance(item, Mapping):
            members = cast("Mapping[object, object]", item)
            left += [*members.keys(), *members.values()]
        elif isinstance(item, Sequence):
            left += cast("Sequence[object]", item)
        else:
            tokens += 1
    return tokens

"""Token estimates, where no service has counted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never, cast

from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message
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

if TYPE_CHECKING:
    from tejat.core.messages.declaration import FunctionDeclaration
    from tejat.core.model import ModelRequest

CHARACTERS_PER_TOKEN = 4
"""The estimate for ASCII text."""
_MIN_MEDIA_TOKENS = 258
_MEDIA_BYTES_PER_TOKEN = 500


def estimate_text_tokens(text: str) -> int:
    """One token for four ASCII characters, and one for every other character."""
    if text.isascii():
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    plain = len(text.encode("ascii", "ignore"))
    return len(text) - plain + -(-plain // CHARACTERS_PER_TOKEN)


def estimate_declaration_tokens(declaration: "FunctionDeclaration") -> int:
    """The cost of declaring a tool, in every request."""
    return estimate_text_tokens(dump_json(declaration.to_json()))


def estimate_message_tokens(messages: Iterable[Message]) -> int:
    """The tokens of messages. Media count by their size."""
    tokens = 0
    for message in messages:
        known = message.known_tokens
        if known is None:
            known = sum([estimate_part_tokens(part) for part in message.parts])
            object.__setattr__(message, "known_tokens", known)
        tokens += known
    return tokens


def estimate_request_tokens(request: "ModelRequest") -> int:
    """The tokens of a whole request: system prompt, tools and messages."""
    tools = sum(map(estimate_declaration_tokens, request.tools))
    return estimate_text_tokens(request.system) + tools + estimate_message_tokens(request.messages)


def estimate_part_tokens(part: MessagePart) -> int:
    """The tokens of one part of a message."""
    # The frequent kinds are not patterns, which take several times as long.
    if isinstance(part, Text):
        return estimate_text_tokens(part.text)
    if isinstance(part, FunctionResponse):
        return estimate_text_tokens(part.name) + _estimate_value(part.response)
    if isinstance(part, FunctionCall):
        signed = estimate_text_tokens(part.signature) if part.signature else 0
        return estimate_text_tokens(part.name) + _estimate_value(part.args) + signed
    match part:
        case InlineData(_, data):
            return _MIN_MEDIA_TOKENS + len(data) // _MEDIA_BYTES_PER_TOKEN
        case FileData():
            return _MIN_MEDIA_TOKENS
        case Thought(text, signature):
            # A thought goes back only with its signature.
            return estimate_text_tokens(text) + estimate_text_tokens(signature) if signature else 0
        case Opaque(_, value):
            return _estimate_value(value)
        case _:
            assert_never(part)


def _estimate_value(value: object) -> int:
    # Iterative: a value may be nested deeper than Python recurses.
    tokens = 0
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            tokens += -(-len(item) // CHARACTERS_PER_TOKEN) if item.isascii() else estimate_text_tokens(item)
        elif isinstance(item, _MAPPINGS):
            members = cast("Mapping[object, object]", item)
            left += members.keys()
            left += members.values()
        elif isinstance(item, Sequence):
            left += cast("Sequence[object]", item)
        else:
            tokens += 1
    return tokens


_MAPPINGS = (dict, Mapping)
"""Nearly all are dicts, which are recognized in a tenth of the time."""

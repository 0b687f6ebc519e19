"""A conversation as plain text, for a model that is to read about it and not to take part in it."""

import json
from collections.abc import Iterable, Mapping
from typing import assert_never

from tejat.core.history import Message
from tejat.core.types import FileData, FunctionCall, FunctionResponse, InlineData, MessagePart, Opaque, Text, Thought

_LONGEST_TEXT = 20_000
_LONGEST_ARGUMENTS = 2_000
_LONGEST_RESULT = 4_000


def transcript(messages: Iterable[Message]) -> str:
    """Who said what, what was called and what came of it. Thoughts are left out, media are only named."""
    return "\n\n".join(text for message in messages if (text := _told(message)))


def shortened(text: str, most: int) -> str:
    """The text, or about `most` characters of its beginning and its end, with a note of how much is missing."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]}\n[... {len(text) - most} characters left out ...]\n{text[len(text) - end :]}"


def _told(message: Message) -> str:
    lines = [line for part in message.parts if (line := _line(part))]
    return "\n".join([f"[{message.role}]", *lines]) if lines else ""


def _line(part: MessagePart) -> str:
    match part:
        case Text(text):
            return shortened(text.strip(), _LONGEST_TEXT)
        case FunctionCall(name, args):
            return f"called {name} {shortened(_as_json(args), _LONGEST_ARGUMENTS)}"
        case FunctionResponse(name, response):
            return f"result of {name}: {shortened(_result(response), _LONGEST_RESULT)}"
        case InlineData(mime_type, data):
            return f"[{mime_type}, {len(data)} bytes]"
        case FileData(mime_type, file_uri):
            return f"[{mime_type}, {file_uri}]"
        case Thought() | Opaque():
            return ""
        case _:
            assert_never(part)


def _result(response: Mapping[str, object]) -> str:
    """What stands in nearly every response is a text under one name."""
    values = list(response.values())
    if len(values) != 1 or not isinstance(values[0], str):
        return _as_json(response)
    return f"error: {values[0]}" if "error" in response else values[0]


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, TypeError, ValueError):
        return "[cannot be written down]"

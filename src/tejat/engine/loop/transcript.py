"""A conversation as plain text, for a model that summarises it."""

import json
from collections.abc import Iterable, Mapping
from typing import assert_never

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

_MAX_TEXT_LENGTH = 20_000
_MAX_ARGUMENTS_LENGTH = 2_000
_MAX_RESULT_LENGTH = 4_000


def render_transcript(messages: Iterable[Message]) -> str:
    """Render messages, calls and results as text. Thoughts are left out, media are only named."""
    return "\n\n".join(text for message in messages if (text := _render_message(message)))


def truncate_middle(text: str, max_length: int) -> str:
    """Keep about `max_length` characters from the beginning and the end, with a note of how much is missing."""
    if len(text) <= max_length:
        return text
    end, left_out = max_length // 3, len(text) - max_length
    return f"{text[: max_length - end]}\n[... {left_out} characters left out ...]\n{text[len(text) - end :]}"


def _render_message(message: Message) -> str:
    lines = [line for part in message.parts if (line := _render_part(part))]
    return "\n".join([f"[{message.role}]", *lines]) if lines else ""


def _render_part(part: MessagePart) -> str:
    match part:
        case Text(text):
            return truncate_middle(text.strip(), _MAX_TEXT_LENGTH)
        case FunctionCall(name, args):
            return f"called {name} {truncate_middle(_dump_json(args), _MAX_ARGUMENTS_LENGTH)}"
        case FunctionResponse(name, response):
            return f"result of {name}: {truncate_middle(_render_response(response), _MAX_RESULT_LENGTH)}"
        case InlineData(mime_type, data):
            return f"[{mime_type}, {len(data)} bytes]"
        case FileData(mime_type, file_uri):
            return f"[{mime_type}, {file_uri}]"
        case Thought() | Opaque():
            return ""
        case _:
            assert_never(part)


def _render_response(response: Mapping[str, object]) -> str:
    """Render a response, which is nearly always a text under one key."""
    values = list(response.values())
    if len(values) != 1 or not isinstance(values[0], str):
        return _dump_json(response)
    return f"error: {values[0]}" if "error" in response else values[0]


def _dump_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, TypeError, ValueError):
        return "[cannot be written down]"

"""A conversation as plain text, for a model that summarises it."""

import json
from collections.abc import Mapping, Sequence
from typing import assert_never

from tejat.core.frozen import Frozen
from tejat.core.messages.history import Message
from tejat.core.messages.tokens import CHARACTERS_PER_TOKEN, estimate_text_tokens
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

_NOTE_LENGTH = 50
_UNLIMITED = 10**12


class _Lengths(Frozen):
    """The longest texts in a transcript, in characters."""

    text: int = 20_000
    arguments: int = 2_000
    result: int = 4_000


_LENGTHS = (_Lengths(), _Lengths(4_000, 500, 1_000), _Lengths(1_000, 200, 250), _Lengths(300, 100, 60))
"""Lengths to try one after the other if a transcript is too long."""


def render_transcript(messages: Sequence[Message], max_tokens: int = _UNLIMITED) -> str:
    """Render messages, calls and results as text. Thoughts are left out, media are only named.

    A transcript of more than `max_tokens` estimated tokens is shortened: first each of its parts, then its middle.
    """
    transcript = ""
    for lengths in _LENGTHS:
        transcript = "\n\n".join(text for message in messages if (text := _render_message(message, lengths)))
        if max_tokens == _UNLIMITED or estimate_text_tokens(transcript) <= max_tokens:
            return transcript
    return truncate_tokens(transcript, max_tokens)


def render_message(message: Message) -> str:
    """Render one message as a transcript does, uncut."""
    return _render_message(message, _Lengths(_UNLIMITED, _UNLIMITED, _UNLIMITED))


def truncate_tokens(text: str, max_tokens: int) -> str:
    """Keep at most `max_tokens` estimated tokens from the beginning and the end, and a note."""
    max_length = CHARACTERS_PER_TOKEN * max_tokens
    while estimate_text_tokens(text) > max_tokens > _NOTE_LENGTH:
        text = truncate_middle(text, max_length - _NOTE_LENGTH)
        max_length = max_length * 3 // 4
    return text


def truncate_middle(text: str, max_length: int) -> str:
    """Keep about `max_length` characters from the beginning and the end, with a note of how much is missing."""
    if len(text) <= max_length:
        return text
    end, left_out = max_length // 3, len(text) - max_length
    return f"{text[: max_length - end]}\n[... {left_out} characters left out ...]\n{text[len(text) - end :]}"


def _render_message(message: Message, lengths: _Lengths) -> str:
    lines = [line for part in message.parts if (line := _render_part(part, lengths))]
    return "\n".join([f"[{message.role}]", *lines]) if lines else ""


def _render_part(part: MessagePart, lengths: _Lengths) -> str:
    # The frequent kinds are not patterns, which take several times as long.
    if isinstance(part, Text):
        return truncate_middle(part.text.strip(), lengths.text)
    if isinstance(part, FunctionCall):
        return f"called {part.name} {truncate_middle(_dump_json(part.args), lengths.arguments)}"
    if isinstance(part, FunctionResponse):
        return f"result of {part.name}: {truncate_middle(_render_response(part.response), lengths.result)}"
    match part:
        case InlineData():
            return part.label
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
        return _ENCODER.encode(value)
    except (RecursionError, TypeError, ValueError):
        return "[cannot be written down]"


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)

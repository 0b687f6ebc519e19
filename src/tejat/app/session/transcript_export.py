"""Export of a conversation to a file."""

import os
from collections.abc import Iterator, Sequence
from typing import assert_never, cast

from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_to_json
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    Opaque,
    Text,
    Thought,
)
from tejat.core.text.code_fence import fence_code


def render_transcript(messages: Sequence[Message], *, as_json: bool) -> str:
    """Render the messages as Markdown or as a JSON array."""
    if as_json:
        return dump_json(list(map(message_to_json, messages)), indent=2) + "\n"
    return "\n\n---\n\n".join(_section(message) for message in messages) + "\n"


def resolve_path(name: str, *, directory: str, home: str) -> str:
    """Resolve a file name relative to a directory; `~` is the home directory."""
    return os.path.join(directory, home + name[1:] if name.startswith("~/") else name)


def path_exists(path: str) -> bool:
    return os.path.lexists(path)


def _section(message: Message) -> str:
    heading = "## User" if message.role is Role.USER else "## Model"
    return "\n\n".join((heading, *_render_parts(message)))


def _render_parts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text):
                yield text.strip("\n")
            case FunctionCall(name, args):
                yield f"**Call of {name}**\n\n{fence_code(dump_json(cast('JsonObject', args), indent=2), 'json')}"
            case FunctionResponse(name, response):
                yield f"**Result of {name}**\n\n{fence_code(dump_json(response, indent=2), 'json')}"
            case InlineData():
                yield part.label
            case FileData(mime_type, file_uri):
                yield f"[{mime_type}, {file_uri}]"
            case Thought() | Opaque():
                pass
            case _:
                assert_never(part)

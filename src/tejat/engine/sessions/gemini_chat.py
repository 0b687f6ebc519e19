"""Chats saved by Gemini CLI, as the messages of a new session.

A file holds one JSON object a line: first the metadata, then messages, and records that change what came before
(`$rewindTo`, `$set`). A message that is written again replaces the earlier one. Older files are one object with all
messages.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import dropwhile, groupby

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_part_from_json
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, MessagePart, Text
from tejat.workspace.files.regular_file import regular_file_opener

MAX_BYTES = 64 << 20
_MAX_RESULT_LENGTH = 200
_MAX_NAME_LENGTH = 100
_NOT_PROMPTS = ("/", "?", "<session_context>", "<hook_context>")
"""Beginnings of user messages that no model is to answer: slash commands and context of the program."""


class ChatTurn(Frozen):
    """A message. A note about tool calls has the user's role too, but is no prompt."""

    message: Message
    is_note: bool = False


class GeminiChat(Frozen):
    """A chat that begins with a prompt. `model` gave the last answer, `damaged_lines` were left out."""

    turns: tuple[ChatTurn, ...]
    model: str = ""
    damaged_lines: int = 0


def read_gemini_chat(path: str) -> GeminiChat:
    """Read a chat. Raises UsageError if the file cannot be read, is too large or holds no conversation."""
    text = _read_file(path)
    records, damaged = _parse_records(text)
    if not any("sessionId" in record for record in records):
        raise UsageError(_("{path} is not a Gemini CLI chat.", path=path))
    messages = _replay(records)
    turns = _join_answers(turn for message in messages for turn in _convert(message))
    if not turns:
        raise UsageError(_("{path} contains no conversation.", path=path))
    models = [model for message in messages if isinstance(model := message.get("model"), str)]
    return GeminiChat(tuple(turns), models[-1] if models else "", damaged)


def read_chat_head(path: str) -> JsonObject:
    """The metadata of a chat, empty if the file is not a chat."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            line = file.readline(MAX_BYTES)
            if line.strip() == b"{":
                line += file.read(MAX_BYTES)
    except OSError:
        return {}
    return _parse_object(line) or {}


def _read_file(path: str) -> str:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(MAX_BYTES + 1) if size <= MAX_BYTES else b""
    except OSError as error:
        raise UsageError(_("Could not read {path}: {reason}.", path=path, reason=error.strerror or error)) from None
    if size > MAX_BYTES or len(data) > MAX_BYTES:
        raise UsageError(_("{path} is larger than {most} MB.", path=path, most=MAX_BYTES >> 20))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(_("{path} is not a Gemini CLI chat.", path=path)) from None


def _parse_records(text: str) -> tuple[list[JsonObject], int]:
    """The objects of the file, and the number of damaged lines."""
    whole = _parse_object(text)
    if whole is not None:
        return [whole], 0
    lines = [line for line in text.split("\n") if line.strip()]
    records = [record for record in map(_parse_object, lines) if record is not None]
    return records, len(lines) - len(records)


def _parse_object(text: str | bytes) -> JsonObject | None:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _replay(records: Sequence[JsonObject]) -> list[JsonObject]:
    """The messages that are left after all changes."""
    messages: dict[str, JsonObject] = {}
    for record in records:
        target, identifier, changes = record.get("$rewindTo"), record.get("id"), record.get("$set")
        if isinstance(target, str):
            # As in Gemini CLI, an unknown message takes everything back.
            while messages and messages.popitem()[0] != target:
                pass
        elif isinstance(identifier, str):
            messages[identifier] = record
        elif isinstance(changes, Mapping):
            if "messages" in changes:
                messages = _by_id(changes["messages"])
        else:
            messages |= _by_id(record.get("messages"))
    return list(messages.values())


def _by_id(messages: JsonValue) -> dict[str, JsonObject]:
    return {str(each.get("id", f"#{number}")): each for number, each in enumerate(_objects(messages))}


def _objects(value: JsonValue) -> list[JsonObject]:
    """The objects in a list, none if it is no list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [each for each in value if isinstance(each, Mapping)]


def _convert(message: JsonObject) -> Iterator[ChatTurn]:
    """A message as ours, and a note in place of its tool calls, so that no call is left without a response."""
    match message.get("type"):
        case "user":
            parts = tuple(_parts(message.get("content")))
            text = "".join(part.text for part in parts if isinstance(part, Text)).lstrip()
            if parts and not text.startswith(_NOT_PROMPTS):
                yield ChatTurn(Message(Role.USER, parts))
        case "gemini":
            parts = tuple(_parts(message.get("content")))
            if parts:
                yield ChatTurn(Message(Role.MODEL, parts))
            notes = [_call_note(call) for call in _objects(message.get("toolCalls"))]
            if notes:
                yield ChatTurn(Message(Role.USER, (Text("\n".join(notes)),)), is_note=True)
        case _:
            pass


def _parts(content: JsonValue) -> Iterator[MessagePart]:
    """Texts and media of a message; thoughts and calls are left out."""
    listed = [content] if isinstance(content, str) or not isinstance(content, Sequence) else content
    for each in listed:
        part: JsonValue = {"text": each} if isinstance(each, str) else each
        if not isinstance(part, Mapping) or part.get("thought"):
            continue
        text = part.get("text")
        if isinstance(text, str):
            if text.strip():
                yield Text(text)
        elif "inlineData" in part:
            with suppress(ValueError):
                media = message_part_from_json({"inlineData": part["inlineData"]})
                if isinstance(media, InlineData):
                    yield media


def _call_note(call: JsonObject) -> str:
    """`called NAME: ` and the beginning of the result, on one line."""
    try:
        text = _result_text(call.get("result"))
    except RecursionError:
        text = ""  # nested too deeply to be a result of a tool
    result, name = " ".join(text.split()), " ".join(str(call.get("name")).split())
    return f"called {name[:_MAX_NAME_LENGTH]}: {result[:_MAX_RESULT_LENGTH]}".rstrip()


def _result_text(result: JsonValue) -> str:
    match result:
        case str():
            return result
        case {"functionResponse": {"response": response}}:
            return _result_text(response)
        case {"output": str(text)} | {"error": str(text)} | {"text": str(text)}:
            return text
        case Mapping():
            return dump_json(result)
        case [*items]:
            return " ".join(filter(None, map(_result_text, items)))
        case _:
            return ""


def _join_answers(turns: Iterator[ChatTurn]) -> list[ChatTurn]:
    """Join answers that follow each other, and drop what comes before the first prompt."""
    joined: list[ChatTurn] = []
    from_first = dropwhile(lambda turn: turn.is_note or turn.message.role is Role.MODEL, turns)
    for role, group in groupby(from_first, key=lambda turn: turn.message.role):
        if role is Role.MODEL:
            parts = (part for turn in group for part in turn.message.parts)
            joined.append(ChatTurn(Message(Role.MODEL, tuple(parts))))
        else:
            joined += group
    return joined

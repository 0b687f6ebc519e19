"""One line of a session's journal: a record as JSON, to bytes and back.

A record is an object with its version (`v`), its kind and what that kind holds. Readers pass over kinds, parts and
fields that they do not know, so that later versions can add some.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import cast

from tejat.core.history import Message, Role
from tejat.core.json_text import NotJson, load_json
from tejat.core.model import Usage
from tejat.core.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    JsonValue,
    MessagePart,
    Opaque,
    Text,
    Thought,
)

VERSION = 1

LONGEST_LINE = 128 << 20


class Kind(StrEnum):
    """What a record tells."""

    SESSION = "session"
    OPENING = "opening"
    PROMPT = "prompt"
    ANSWER = "answer"
    RESPONSE = "response"
    WITHDRAWN = "withdrawn"
    COMPRESSED = "compressed"
    ENDED = "ended"


class NotRecord(ValueError):
    """The bytes are no record that we understand; the message says why."""


def to_line(record: JsonObject) -> bytes:
    """The record in its version, with the newline. Raises ValueError for what JSON cannot hold, or not in one line."""
    versioned = {"v": VERSION, **record}
    try:
        text = _dumped(versioned, ensure_ascii=False)
        line = text.encode()
    except UnicodeEncodeError:
        # Bytes of file names that are not text come back as they were only if they are escaped.
        line = _dumped(versioned, ensure_ascii=True).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f"it cannot be written as JSON: {error}") from None
    if len(line) >= LONGEST_LINE:
        raise ValueError(f"a record of {len(line) >> 20} MiB is too long")
    return line + b"\n"


def from_line(line: bytes) -> Mapping[str, object]:
    """The record in a line, of any version. Raises NotRecord."""
    try:
        record = load_json(line)
    except NotJson as error:
        raise NotRecord(str(error)) from None
    fields = _object(record)
    if type(fields.get("v")) is not int or not isinstance(fields.get("kind"), str):
        raise NotRecord("it has no version or no kind")
    return fields


def message_to_json(message: Message) -> JsonObject:
    return {"role": message.role.value, "parts": parts_to_json(message.parts)}


def message_from_json(value: object) -> Message:
    """Raises NotRecord."""
    fields = _object(value)
    role = fields.get("role")
    if role not in (Role.USER, Role.MODEL):
        raise NotRecord("a message has no role")
    return Message(Role(role), parts_from_json(fields.get("parts")))


def messages_from_json(value: object) -> list[Message]:
    """Raises NotRecord."""
    return [message_from_json(item) for item in _items(value)]


def parts_to_json(parts: Sequence[MessagePart]) -> JsonValue:
    return [_part_to_json(part) for part in parts]


def parts_from_json(value: object) -> tuple[MessagePart, ...]:
    """Those that are known. Raises NotRecord."""
    parts = (_part_from_json(_object(item)) for item in _items(value))
    return tuple(part for part in parts if part is not None)


def usage_to_json(usage: Usage) -> JsonObject:
    return {name: getattr(usage, name) for name in _COUNTS}


def usage_from_json(value: object) -> Usage:
    """What is missing or no number of tokens counts as none."""
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    counts = (fields.get(name) for name in _COUNTS)
    return Usage(*(count if type(count) is int and count > 0 else 0 for count in counts))


_COUNTS = ("prompt", "cached", "output", "thoughts", "tool")


def text_field(record: Mapping[str, object], name: str) -> str:
    """Raises NotRecord."""
    text = record.get(name)
    if not isinstance(text, str):
        raise NotRecord(f"it has no {name}")
    return text


def index_field(record: Mapping[str, object], name: str) -> int:
    """Raises NotRecord."""
    index = record.get(name)
    if type(index) is not int or index < 0:
        raise NotRecord(f"it has no {name}")
    return index


def _part_to_json(part: MessagePart) -> JsonObject:
    match part:
        case Text(text, signature):
            return _signed({"text": text}, signature)
        case Thought(text, signature):
            return _signed({"thought": text}, signature)
        case InlineData(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode("ascii")}}
        case FileData(mime_type, file_uri):
            return {"fileData": {"mimeType": mime_type, "fileUri": file_uri}}
        case FunctionCall(name, args, call_id, signature):
            called = {"id": call_id, "name": name, "args": cast("JsonObject", args)}
            return _signed({"functionCall": called}, signature)
        case FunctionResponse(name, response, call_id):
            return {"functionResponse": {"id": call_id, "name": name, "response": response}}
        case Opaque(vendor, value):
            return {"opaque": {"vendor": vendor, "value": value}}


def _part_from_json(fields: Mapping[str, object]) -> MessagePart | None:
    """None for a kind of part that is not known. Raises NotRecord."""
    signature = _optional_text(fields, "signature")
    match fields:
        case {"text": _}:
            return Text(text_field(fields, "text"), signature)
        case {"thought": _}:
            return Thought(text_field(fields, "thought"), signature)
        case {"inlineData": value}:
            inner = _object(value)
            return InlineData(text_field(inner, "mimeType"), _bytes(text_field(inner, "data")))
        case {"fileData": value}:
            inner = _object(value)
            return FileData(text_field(inner, "mimeType"), text_field(inner, "fileUri"))
        case {"functionCall": value}:
            inner = _object(value)
            args = _object(inner.get("args"))
            return FunctionCall(text_field(inner, "name"), args, _optional_text(inner, "id"), signature)
        case {"functionResponse": value}:
            inner = _object(value)
            response = cast("JsonObject", _object(inner.get("response")))
            return FunctionResponse(text_field(inner, "name"), response, _optional_text(inner, "id"))
        case {"opaque": value}:
            inner = _object(value)
            return Opaque(text_field(inner, "vendor"), cast("JsonObject", _object(inner.get("value"))))
        case _:
            return None


def _signed(fields: dict[str, JsonValue], signature: str | None) -> JsonObject:
    return fields if signature is None else {**fields, "signature": signature}


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NotRecord("its media are not base64") from None


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise NotRecord("an object is missing")
    return cast("dict[str, object]", value)


def _items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise NotRecord("a list is missing")
    return cast("list[object]", value)


def _optional_text(fields: Mapping[str, object], name: str) -> str | None:
    return None if fields.get(name) is None else text_field(fields, name)


def _dumped(record: JsonObject, *, ensure_ascii: bool) -> str:
    return json.dumps(
        record, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"), default=_plain_container
    )


def _plain_container(value: object) -> object:
    """Arguments and responses may be any mapping and sequence; JSON knows only its own."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"a {type(value).__name__} is no JSON value")

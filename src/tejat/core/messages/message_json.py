"""Lossless JSON serialization of messages and usage, for stored conversations."""

import base64
from typing import cast

from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import (
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
    part_to_json,
)
from tejat.core.model import Usage


def message_to_json(message: Message) -> JsonObject:
    return {"role": message.role.value, "parts": [message_part_to_json(part) for part in message.parts]}


def message_part_to_json(part: MessagePart) -> JsonObject:
    """Serialize a part, with the field names of the Gemini API where it has one."""
    match part:
        case Text(text, signature):
            return {"text": text} | _signature_field(signature)
        case Thought(text, signature):
            return {"thought": True, "text": text} | _signature_field(signature)
        case FunctionCall(name, args, call_id, signature):
            call: dict[str, JsonValue] = {} if call_id is None else {"id": call_id}
            call |= {"name": name, "args": cast("JsonObject", args)}
            return {"functionCall": call} | _signature_field(signature)
        case Opaque(vendor, value):
            return {"opaque": {"vendor": vendor, "value": value}}
        case _:
            return part_to_json(part)


def _signature_field(signature: str | None) -> dict[str, JsonValue]:
    return {} if signature is None else {"thoughtSignature": signature}


def message_from_json(value: object) -> Message:
    """Raises ValueError for anything that `message_to_json` did not produce."""
    from tejat.core.messages.json_fields import JsonFields

    if isinstance(value, dict):
        # A long session has very many messages.
        members = cast("dict[str, object]", value)
        role, parts = _ROLES.get(members.get("role")), members.get("parts")
        if role is not None and isinstance(parts, list):
            return Message(role, tuple([message_part_from_json(part) for part in cast("list[object]", parts)]))
    fields = JsonFields(cast("object", value))
    return Message(Role(fields.string("role")), tuple(message_part_from_json(part) for part in fields.items("parts")))


def message_part_from_json(value: object) -> MessagePart:
    """Raises ValueError."""
    from tejat.core.messages.json_fields import JsonFields

    if isinstance(value, dict) and len(value := cast("dict[str, object]", value)) == 1:
        part = _plain_part(value)
        if part is not None:
            return part
    fields = JsonFields(value)
    signature = fields.string_or_none("thoughtSignature")
    if fields.has("text"):
        text = fields.string("text")
        return Thought(text, signature) if fields.has("thought") else Text(text, signature)
    kind = next((kind for kind in _KINDS if fields.has(kind)), None)
    if kind is None:
        raise ValueError("There is a part of no kind that is known.")
    inner = fields.nested(kind)
    match kind:
        case "functionCall":
            return FunctionCall(inner.string("name"), inner.object("args"), inner.string_or_none("id"), signature)
        case "functionResponse":
            return FunctionResponse(inner.string("name"), inner.object("response"), inner.string_or_none("id"))
        case "inlineData":
            return InlineData(inner.string("mimeType"), base64.b64decode(inner.string("data"), validate=True))
        case "fileData":
            return FileData(inner.string("mimeType"), inner.string("fileUri"))
        case _:
            return Opaque(inner.string("vendor"), inner.object("value"))


def _plain_part(fields: dict[str, object]) -> MessagePart | None:
    """Return a part of the most frequent kinds, without a signature. None for any other and for an invalid one."""
    # Not as patterns, which take several times as long.
    ((kind, content),) = fields.items()
    if isinstance(content, str):
        return Text(content) if kind == "text" else None
    if not isinstance(content, dict):
        return None
    inner = cast("dict[str, object]", content)
    name, call_id = inner.get("name"), inner.get("id")
    if not isinstance(name, str) or not isinstance(call_id, str):
        return None
    if kind == "functionResponse" and isinstance(response := inner.get("response"), dict):
        return FunctionResponse(name, cast("JsonObject", response), call_id)
    if kind == "functionCall" and isinstance(args := inner.get("args"), dict):
        return FunctionCall(name, cast("JsonObject", args), call_id)
    return None


_ROLES: dict[object, Role] = {role.value: role for role in Role}
_KINDS = ("functionCall", "functionResponse", "inlineData", "fileData", "opaque")


def usage_to_json(usage: Usage) -> JsonObject:
    counts: JsonObject = {name: getattr(usage, name) for name in _USAGE_FIELDS}
    return counts | {"cache_write": usage.cache_write} if usage.cache_write else counts


def usage_from_json(value: object) -> Usage:
    """Raises ValueError."""
    from tejat.core.messages.json_fields import JsonFields

    if isinstance(value, dict) and len(members := cast("dict[str, object]", value)) == len(_USAGE_FIELDS):
        counts = [members.get(name) for name in _USAGE_FIELDS]
        if set(map(type, counts)) == _INTEGERS:
            return Usage(*cast("list[int]", counts))
    fields = JsonFields(cast("object", value))
    written = fields.integer_or_none("cache_write")
    return Usage(*(fields.integer(name) for name in _USAGE_FIELDS), cache_write=written or 0)


_USAGE_FIELDS = ("prompt", "cached", "output", "thoughts", "tool")
_INTEGERS = {int}

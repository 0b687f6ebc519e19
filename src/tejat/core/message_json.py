"""Messages and what they used as JSON and back, for what is kept of conversations: nothing is lost on the way."""

from base64 import b64decode
from typing import cast

from tejat.core.history import Message, Role
from tejat.core.json_fields import Fields
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
    part_to_json,
)


def message_to_json(message: Message) -> JsonObject:
    return {"role": message.role.value, "parts": [message_part_to_json(part) for part in message.parts]}


def message_part_to_json(part: MessagePart) -> JsonObject:
    """With the field names of the documents, where they have one."""
    match part:
        case Text(text, signature):
            return {"text": text} | _signed(signature)
        case Thought(text, signature):
            return {"thought": True, "text": text} | _signed(signature)
        case FunctionCall(name, args, call_id, signature):
            known: dict[str, JsonValue] = {"name": name, "args": cast("JsonObject", args)}
            return {"functionCall": known if call_id is None else {"id": call_id, **known}} | _signed(signature)
        case Opaque(vendor, value):
            return {"opaque": {"vendor": vendor, "value": value}}
        case _:
            return part_to_json(part)


def _signed(signature: str | None) -> dict[str, JsonValue]:
    return {} if signature is None else {"thoughtSignature": signature}


def message_from_json(value: object) -> Message:
    """Raises ValueError for what `message_to_json` did not make, also for a part of a kind that we do not know."""
    fields = Fields(value)
    return Message(Role(fields.text("role")), tuple(message_part_from_json(part) for part in fields.items("parts")))


def message_part_from_json(value: object) -> MessagePart:
    """Raises ValueError."""
    fields = Fields(value)
    signature = fields.text_or_none("thoughtSignature")
    if fields.has("text"):
        text = fields.text("text")
        return Thought(text, signature) if fields.has("thought") else Text(text, signature)
    kind = next((kind for kind in _KINDS if fields.has(kind)), None)
    if kind is None:
        raise ValueError("There is a part of no kind that is known.")
    inner = fields.inner(kind)
    match kind:
        case "functionCall":
            return FunctionCall(inner.text("name"), inner.object("args"), inner.text_or_none("id"), signature)
        case "functionResponse":
            return FunctionResponse(inner.text("name"), inner.object("response"), inner.text_or_none("id"))
        case "inlineData":
            return InlineData(inner.text("mimeType"), b64decode(inner.text("data"), validate=True))
        case "fileData":
            return FileData(inner.text("mimeType"), inner.text("fileUri"))
        case _:
            return Opaque(inner.text("vendor"), inner.object("value"))


_KINDS = ("functionCall", "functionResponse", "inlineData", "fileData", "opaque")


def usage_to_json(usage: Usage) -> JsonObject:
    return {name: getattr(usage, name) for name in _COUNTS}


def usage_from_json(value: object) -> Usage:
    """Raises ValueError."""
    fields = Fields(value)
    return Usage(*(fields.whole_number(name) for name in _COUNTS))


_COUNTS = ("prompt", "cached", "output", "thoughts", "tool")

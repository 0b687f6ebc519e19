"""Message parts, function calls and function responses."""

import base64
from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from tejat.core.frozen import Value, field
from tejat.core.messages.sdk import SdkCall, SdkResponse

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]
Params: TypeAlias = Mapping[str, object]
"""The unchecked arguments of a call, as the model sent them."""


class Text(Value):
    """Text. The service that sent a `signature` expects it back with the text, byte for byte."""

    text: str
    signature: str | None = field(default=None, repr=False)


class InlineData(Value):
    """Media in the message itself, as raw bytes. They are encoded in base64 only when sent."""

    mime_type: str
    data: bytes = field(repr=False)

    @property
    def label(self) -> str:
        """A placeholder for the bytes in a text."""
        return f"[{self.mime_type}, {len(self.data)} bytes]"


class FileData(Value):
    """Media that the model service fetches by URI."""

    mime_type: str
    file_uri: str


class FunctionResponse(SdkResponse, Value):
    """The response to one function call, as the model gets it."""

    name: str
    response: JsonObject
    id: str | None = None


class FunctionCall(SdkCall, Value):
    """A request of the model to run a tool. For `signature` see Text."""

    name: str
    args: Params
    id: str | None = None
    signature: str | None = field(default=None, repr=False)


class Thought(Value):
    """A thought of the model. It is shown to the user, and sent back only if its service requires it."""

    text: str
    signature: str | None = field(default=None, repr=False)


class Opaque(Value):
    """A part that only its service understands. It is sent back unchanged."""

    vendor: str
    value: JsonObject


Part: TypeAlias = Text | InlineData | FileData | FunctionResponse
MessagePart: TypeAlias = Part | FunctionCall | Thought | Opaque
"""A part of a message. Tools use only `Part`."""
PartListUnion: TypeAlias = str | Part | Sequence[str | Part]


def content_to_json(content: PartListUnion) -> JsonValue:
    """Serialize `llmContent` with the field names of the Gemini API."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return [item if isinstance(item, str) else part_to_json(item) for item in content]
    return part_to_json(content)


def part_to_json(part: Part) -> JsonObject:
    match part:
        case Text(text):
            return {"text": text}
        case InlineData(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode("ascii")}}
        case FileData(mime_type, file_uri):
            return {"fileData": {"mimeType": mime_type, "fileUri": file_uri}}
        case FunctionResponse(name, response, call_id):
            known = {"name": name, "response": response}
            return {"functionResponse": known if call_id is None else {"id": call_id, **known}}
        case _:
            assert_never(part)

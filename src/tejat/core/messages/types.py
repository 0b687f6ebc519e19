"""The values that travel between a model and its tools: parts, function calls and function responses."""

import base64
from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from tejat.core.frozen import field, frozen

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]
Params: TypeAlias = Mapping[str, object]
"""The arguments of one call as the model sent them, before anything was checked."""


@frozen
class Text:
    """`signature` belongs to the model's service, which wants it back with the text, byte for byte."""

    text: str
    signature: str | None = field(default=None, repr=False)


@frozen
class InlineData:
    """Media carried in the message itself. `data` are the raw bytes; they become base64 only on the way out."""

    mime_type: str
    data: bytes = field(repr=False)


@frozen
class FileData:
    """Media that the model's service fetches by address."""

    mime_type: str
    file_uri: str


@frozen
class FunctionResponse:
    """The answer to one function call, as it goes back to the model."""

    name: str
    response: JsonObject
    id: str | None = None


@frozen
class FunctionCall:
    """One request of the model to run a tool. `signature`: see Text."""

    name: str
    args: Params
    id: str | None = None
    signature: str | None = field(default=None, repr=False)


@frozen
class Thought:
    """What a model thought before it answered. Shown to the person; sent back only where its service asks for it."""

    text: str
    signature: str | None = field(default=None, repr=False)


@frozen
class Opaque:
    """A piece of an answer that only the service that made it understands. It goes back to that service unchanged."""

    vendor: str
    value: JsonObject


Part: TypeAlias = Text | InlineData | FileData | FunctionResponse
MessagePart: TypeAlias = Part | FunctionCall | Thought | Opaque
"""What a message of a conversation is made of; tools give and get only `Part`s."""
PartListUnion: TypeAlias = str | Part | Sequence[str | Part]


def content_to_json(content: PartListUnion) -> JsonValue:
    """A tool's `llmContent` with the field names of the documents."""
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

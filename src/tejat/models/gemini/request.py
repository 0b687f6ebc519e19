"""Encoding of requests to the Gemini API."""

import base64
import re
from collections.abc import Iterable
from typing import assert_never, cast

from tejat.core.frozen import replace
from tejat.core.json_text import dump_json
from tejat.core.messages.history import GENERATED_ID_PREFIX, Message
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    MessagePart,
    Opaque,
    Text,
    Thought,
)
from tejat.core.model import Capability, ModelRequest
from tejat.models.wire.common import media_placeholder, wire_name

VENDOR = "gemini"
NAME_PATTERN = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
"""Function names that the service accepts."""

_MODEL_VERSION = r"gemini-(\d{1,3})(?:\.(\d{1,3}))?(?:-|$)"
_LATEST_ALIASES = frozenset({"gemini-pro-latest", "gemini-flash-latest", "gemini-flash-lite-latest"})
_NON_THINKING_VARIANTS = ("image", "tts", "audio", "live", "embedding", "computer-use", "robotics")
_NESTED_MEDIA_TYPES = ("image/", "application/pdf", "text/plain")
_SIGNATURE = "thoughtSignature"
_PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator"
"""Accepted instead of a signature, for a call of another model or one that lost its signature."""
_CAPABILITY_TOOLS: dict[Capability, JsonObject] = {
    Capability.GOOGLE_SEARCH: {"googleSearch": {}},
    Capability.URL_CONTEXT: {"urlContext": {}},
}


class GeminiEncoder:
    """Encodes messages and requests for one model. Models differ, which is known by their names."""

    def __init__(self, model: str) -> None:
        own_name = model.rpartition("/")[2]
        found = re.match(_MODEL_VERSION, own_name)
        version = float(f"{found[1]}.{found[2] or 0}") if found else 0.0
        is_new = version >= 2.5 or own_name in _LATEST_ALIASES
        self.supports_thinking = is_new and not any(word in own_name for word in _NON_THINKING_VARIANTS)
        """Whether it can return thoughts."""
        self.supports_nested_media = version >= 3
        """Whether a function response can contain media."""
        self.requires_signatures = version >= 3
        """Whether it rejects a history with unsigned calls."""

    def encode_message(self, message: Message, *, signed: bool = True, media: bool = True) -> bytes:
        """Encode a message as one element of `contents`.

        `signed=False` leaves out signatures that the service rejects. Without `media`, a text replaces them.
        """
        given = message.parts if signed else tuple(map(_without_signature, message.parts))
        parts = self._encode_parts(given if media else map(_without_media, given))
        if self.requires_signatures or not signed:
            _add_placeholder_signature(parts)
        # Messages without parts and empty texts are rejected.
        return dump_json({"role": message.role.value, "parts": parts or [{"text": " "}]}).encode()

    def _encode_parts(self, given: Iterable[MessagePart]) -> list[JsonObject]:
        parts: list[JsonObject] = []
        response: dict[str, object] | None = None
        for part in given:
            if isinstance(part, InlineData) and response is not None and self._is_nestable(part):
                nested = cast("list[JsonObject]", response.setdefault("parts", []))
                nested.append(_encode_part(part))
                continue
            if not _is_sent(part):
                continue
            encoded = _encode_part(part)
            parts.append(encoded)
            if isinstance(part, FunctionResponse):
                response = cast("dict[str, object]", encoded["functionResponse"])
            elif not isinstance(part, InlineData | FileData):
                response = None
        return parts

    def _is_nestable(self, media: InlineData) -> bool:
        return self.supports_nested_media and media.mime_type.startswith(_NESTED_MEDIA_TYPES)

    def encode_request_fields(self, request: ModelRequest) -> bytes:
        """Encode everything but the messages, as fields that follow others."""
        return _encode_fields({**_prompt_fields(request), **self._generation_fields(request)})

    def encode_prompt_fields(self, request: ModelRequest) -> bytes:
        """Encode the fields that count as tokens."""
        return _encode_fields(_prompt_fields(request))

    def _generation_fields(self, request: ModelRequest) -> JsonObject:
        generation: dict[str, object] = {}
        if request.temperature is not None:
            generation["temperature"] = request.temperature
        if request.max_output_tokens is not None:
            generation["maxOutputTokens"] = request.max_output_tokens
        if request.response_schema is not None:
            generation["responseMimeType"] = "application/json"
            generation["responseJsonSchema"] = request.response_schema
        if self.supports_thinking:
            generation["thinkingConfig"] = {"includeThoughts": True}
        return {"generationConfig": cast("JsonObject", generation)} if generation else {}


def _encode_fields(fields: JsonObject) -> bytes:
    return "".join(f",{dump_json(name)}:{dump_json(value)}" for name, value in fields.items()).encode()


def _prompt_fields(request: ModelRequest) -> JsonObject:
    fields: dict[str, JsonObject | list[JsonObject]] = {}
    if request.system:
        fields["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.capabilities:
        # Most models reject functions together with built-in tools.
        fields["tools"] = [_CAPABILITY_TOOLS[ability] for ability in sorted(request.capabilities)]
    elif request.tools:
        declarations = [{**tool.to_json(), "name": wire_name(tool.name, NAME_PATTERN)} for tool in request.tools]
        fields["tools"] = [{"functionDeclarations": declarations}]
    return fields


def _is_sent(part: MessagePart) -> bool:
    """Return whether a part is sent: no empty text, and no data of other services."""
    match part:
        case Text(text, signature):
            return bool(text) or signature is not None
        case Thought(_, signature):
            return signature is not None
        case Opaque(vendor):
            return vendor == VENDOR
        case _:
            return True


def _encode_part(part: MessagePart) -> JsonObject:
    match part:
        case Text(text, signature):
            return {"text": text, **_signature_field(signature)}
        case Thought(text, signature):
            return {"text": text, "thought": True, **_signature_field(signature)}
        case InlineData(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode("ascii")}}
        case FileData(mime_type, file_uri):
            return {"fileData": {"mimeType": mime_type, "fileUri": file_uri}}
        case FunctionCall(name, args, call_id, signature):
            call = {**_id_field(call_id), "name": wire_name(name, NAME_PATTERN), "args": cast("JsonObject", args)}
            return {"functionCall": call, **_signature_field(signature)}
        case FunctionResponse(name, response, call_id):
            answer = {**_id_field(call_id), "name": wire_name(name, NAME_PATTERN), "response": response}
            return {"functionResponse": answer}
        case Opaque(_, value):
            return value
        case _:
            assert_never(part)


def _signature_field(signature: str | None) -> JsonObject:
    return {} if signature is None else {_SIGNATURE: signature}


def _id_field(call_id: str | None) -> JsonObject:
    return {} if call_id is None or call_id.startswith(GENERATED_ID_PREFIX) else {"id": call_id}


def _without_signature(part: MessagePart) -> MessagePart:
    match part:
        case Text() | Thought() | FunctionCall():
            return replace(part, signature=None)
        case Opaque(vendor, value):
            return Opaque(vendor, {name: inner for name, inner in value.items() if name != _SIGNATURE})
        case _:
            return part


def _without_media(part: MessagePart) -> MessagePart:
    return Text(media_placeholder(part, "the conversation became too large")) if isinstance(part, InlineData) else part


def _add_placeholder_signature(parts: list[JsonObject]) -> None:
    """Add a placeholder signature to the first call, which carries the signature of all calls in the message."""
    first = next((position for position, part in enumerate(parts) if "functionCall" in part), None)
    if first is not None:
        parts[first] = {_SIGNATURE: _PLACEHOLDER_SIGNATURE, **parts[first]}

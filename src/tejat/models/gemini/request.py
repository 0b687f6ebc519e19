"""Encoding of requests to the Gemini API."""

import base64
import re
from collections.abc import Collection, Iterable, Mapping
from typing import assert_never, cast

from tejat.core.frozen import replace
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import GENERATED_ID_PREFIX, Message
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
)
from tejat.core.model import CONVERSATION, Capability, ModelRequest
from tejat.models.wire.common import image_problem, media_placeholder, wire_name

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
_THINKING_DEFAULTS: JsonObject = {"thinkingLevel": "HIGH", "thinkingBudget": 8192}
"""As in Gemini CLI: the level of Gemini 3, and the budget of Gemini 2.5, which ends runaway thinking."""
_TOP_LEVEL_KEYS = frozenset({"safetySettings", "labels", "modelArmorConfig", "serviceTier"})
"""Generation settings that are not part of `generationConfig` in a request."""
_LOCAL_KEYS = frozenset({"automaticFunctionCalling", "shouldReturnHttpResponse", "thinkingConfig"})
"""Generation settings that only the SDK understands, and those that are handled on their own."""
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
        self._has_version = version > 0
        self._thinking_key = "thinkingLevel" if version >= 3 else "thinkingBudget"
        self.requires_signatures = version >= 3
        """Whether it rejects a history with unsigned calls."""

    def encode_message(self, message: Message, *, signed: bool = True, media: bool = True) -> bytes:
        """Encode a message as one element of `contents`.

        `signed=False` leaves out signatures that the service rejects. Without `media`, a text replaces them.
        """
        given = message.parts if signed else tuple(map(_without_signature, message.parts))
        parts = self.encode_parts(given, media=media)
        if self.requires_signatures or not signed:
            _add_placeholder_signature(parts)
        # Messages without parts and empty texts are rejected.
        return dump_json({"role": message.role.value, "parts": parts or [{"text": " "}]}).encode()

    def encode_parts(self, given: Iterable[MessagePart], *, media: bool = True) -> list[JsonObject]:
        """Encode the parts of a message that are sent. Without `media`, a text replaces them."""
        parts: list[JsonObject] = []
        response: dict[str, object] | None = None
        for part in map(_without_bad_image if media else _without_media, given):
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

    def encode_request_fields(self, request: ModelRequest, refused: Collection[str] = ()) -> bytes:
        """Encode everything but the messages, as fields that follow others, without the `refused` values."""
        return _encode_fields({**_prompt_fields(request), **self._generation_fields(request, refused)})

    def encode_prompt_fields(self, request: ModelRequest) -> bytes:
        """Encode the fields that count as tokens."""
        return _encode_fields(_prompt_fields(request))

    def _generation_fields(self, request: ModelRequest, refused: Collection[str]) -> JsonObject:
        fields: dict[str, JsonValue] = {}
        generation: dict[str, JsonValue] = {}
        if request.temperature is not None:
            generation["temperature"] = request.temperature
        for key, value in request.generation.items():
            if key in _TOP_LEVEL_KEYS:
                fields[key] = value
            elif key not in _LOCAL_KEYS and (key != "candidateCount" or value == 1):
                generation[key] = value
        limits = [request.max_output_tokens, generation.get("maxOutputTokens")]
        numbers = [limit for limit in limits if isinstance(limit, int)]
        if numbers:
            generation["maxOutputTokens"] = min(numbers)
        if request.response_schema is not None:
            generation["responseMimeType"] = "application/json"
            generation["responseJsonSchema"] = request.response_schema
        generation["thinkingConfig"] = self._thinking_config(request, refused)
        kept = {key: value for key, value in generation.items() if key not in refused and value != {}}
        fields = {key: value for key, value in fields.items() if key not in refused}
        return {**fields, "generationConfig": kept} if kept else fields

    def _thinking_config(self, request: ModelRequest, refused: Collection[str]) -> JsonObject:
        given = request.generation.get("thinkingConfig")
        thinking: dict[str, JsonValue] = {"includeThoughts": True} if self.supports_thinking else {}
        thinking |= given if isinstance(given, Mapping) else {}
        if _THINKING_DEFAULTS.keys() <= thinking.keys():
            # The service rejects both together.
            thinking = {key: value for key, value in thinking.items() if key in {"includeThoughts", self._thinking_key}}
        elif not _THINKING_DEFAULTS.keys() & thinking.keys() and self._thinks_by_default(request):
            thinking[self._thinking_key] = _THINKING_DEFAULTS[self._thinking_key]
        return {key: value for key, value in thinking.items() if key not in refused}

    def _thinks_by_default(self, request: ModelRequest) -> bool:
        return self.supports_thinking and self._has_version and request.purpose == CONVERSATION


def refused_values(request: ModelRequest, error: str) -> frozenset[str]:
    """Return the generation settings of a request that an error is about."""
    thinking = request.generation.get("thinkingConfig")
    given = {*request.generation, *(thinking if isinstance(thinking, Mapping) else ()), *_THINKING_DEFAULTS}
    return frozenset(key for key in given - {"thinkingConfig"} if re.search(_spellings(key), error, re.IGNORECASE))


def _spellings(key: str) -> str:
    """A pattern for a key as services write it: `topK`, `top_k`, `top k`."""
    return rf"\b{re.sub('(?=[A-Z])', '[_ ]?', re.escape(key))}\b"


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
        fields["tools"] = [{"functionDeclarations": list(map(encode_declaration, request.tools))}]
    return fields


def encode_declaration(tool: FunctionDeclaration) -> JsonObject:
    """Return an element of `functionDeclarations`."""
    return {**tool.to_json(), "name": wire_name(tool.name, NAME_PATTERN)}


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


def _without_bad_image(part: MessagePart) -> MessagePart:
    problem = image_problem(part) if isinstance(part, InlineData) else None
    return part if problem is None or not isinstance(part, InlineData) else Text(media_placeholder(part, problem))


def _add_placeholder_signature(parts: list[JsonObject]) -> None:
    """Add a placeholder signature to the first call, which carries the signature of all calls in the message."""
    first = next((position for position, part in enumerate(parts) if "functionCall" in part), None)
    if first is not None:
        parts[first] = {_SIGNATURE: _PLACEHOLDER_SIGNATURE, **parts[first]}

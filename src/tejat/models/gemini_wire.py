"""The words of the Gemini wire: requests in bytes, answers in parts. Pure."""

import base64
import re
from collections.abc import Iterable
from typing import assert_never, cast

from tejat.core.history import OWN_ID, Message
from tejat.core.json_text import dump_json
from tejat.core.model import Ability, ModelRequest
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import (
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
from tejat.models.portable import in_words, wire_name

VENDOR = "gemini"
NAMES = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
"""The names of functions that the service takes."""

_VERSION = r"gemini-(\d{1,3})(?:\.(\d{1,3}))?(?:-|$)"
_LATEST = frozenset({"gemini-pro-latest", "gemini-flash-latest", "gemini-flash-lite-latest"})
_NOT_FOR_THINKING = ("image", "tts", "audio", "live", "embedding", "computer-use", "robotics")
_NESTED_MEDIA = ("image/", "application/pdf", "text/plain")
_SIGNATURE = "thoughtSignature"
_STAND_IN = "skip_thought_signature_validator"
"""What the service takes in place of a signature, for a call that another model made or that lost its own."""
_ABILITIES: dict[Ability, JsonObject] = {
    Ability.GOOGLE_SEARCH: {"googleSearch": {}},
    Ability.URL_CONTEXT: {"urlContext": {}},
}


class Dialect:
    """What is different from one Gemini model to another, told by its name."""

    def __init__(self, model: str) -> None:
        own_name = model.rpartition("/")[2]
        found = re.match(_VERSION, own_name)
        version = float(f"{found[1]}.{found[2] or 0}") if found else 0.0
        is_new = version >= 2.5 or own_name in _LATEST
        self.thinks = is_new and not any(word in own_name for word in _NOT_FOR_THINKING)
        """Whether it may be asked for its thoughts."""
        self.nests_media = version >= 3
        """Whether a function response can hold media."""
        self.wants_signatures = version >= 3
        """Whether it refuses a history whose calls have no signature."""

    def encode_message(self, message: Message, *, signed: bool = True, media: bool = True) -> bytes:
        """The message as one element of `contents`.

        Not `signed` is for a service that does not accept the signatures in it: those of another model, or of none.
        Without `media` words stand where they were.
        """
        given = message.parts if signed else tuple(map(_without_signature, message.parts))
        parts = self._parts(given if media else map(_without_media, given))
        return _content(message, _with_stand_in(parts) if self.wants_signatures or not signed else parts)

    def _parts(self, given: Iterable[MessagePart]) -> list[JsonObject]:
        parts: list[JsonObject] = []
        response: dict[str, object] | None = None
        for part in given:
            if isinstance(part, InlineData) and response is not None and self._nests(part):
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

    def _nests(self, media: InlineData) -> bool:
        return self.nests_media and media.mime_type.startswith(_NESTED_MEDIA)

    def encode_rest(self, request: ModelRequest) -> bytes:
        """Everything of a request but its messages, as the fields of an object that follow others."""
        return _following({**_prompt_fields(request), **self._generation_fields(request)})

    def encode_prompt(self, request: ModelRequest) -> bytes:
        """The same without what only says how to answer."""
        return _following(_prompt_fields(request))

    def _generation_fields(self, request: ModelRequest) -> JsonObject:
        generation: dict[str, object] = {}
        if request.temperature is not None:
            generation["temperature"] = request.temperature
        if request.most_output_tokens is not None:
            generation["maxOutputTokens"] = request.most_output_tokens
        if request.answer_schema is not None:
            generation["responseMimeType"] = "application/json"
            generation["responseJsonSchema"] = request.answer_schema
        if self.thinks:
            generation["thinkingConfig"] = {"includeThoughts": True}
        return {"generationConfig": cast("JsonObject", generation)} if generation else {}


def _following(fields: JsonObject) -> bytes:
    return "".join(f",{dump_json(name)}:{dump_json(value)}" for name, value in fields.items()).encode()


def _prompt_fields(request: ModelRequest) -> JsonObject:
    fields: dict[str, JsonObject | list[JsonObject]] = {}
    if request.system:
        fields["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.abilities:
        # Most models refuse functions beside what the service does itself.
        fields["tools"] = [_ABILITIES[ability] for ability in sorted(request.abilities)]
    elif request.tools:
        fields["tools"] = [{"functionDeclarations": [_declared(tool) for tool in request.tools]}]
    return fields


def _declared(tool: FunctionDeclaration) -> JsonObject:
    return {**tool.to_json(), "name": wire_name(tool.name, NAMES)}


def _is_sent(part: MessagePart) -> bool:
    """Whether a part goes back to the service: what only it or only another one understands, and no empty text."""
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
            return {"text": text, **_signed(signature)}
        case Thought(text, signature):
            return {"text": text, "thought": True, **_signed(signature)}
        case InlineData(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode("ascii")}}
        case FileData(mime_type, file_uri):
            return {"fileData": {"mimeType": mime_type, "fileUri": file_uri}}
        case FunctionCall(name, args, call_id, signature):
            call = {**_identified(call_id), "name": wire_name(name, NAMES), "args": cast("JsonObject", args)}
            return {"functionCall": call, **_signed(signature)}
        case FunctionResponse(name, response, call_id):
            answer = {**_identified(call_id), "name": wire_name(name, NAMES), "response": response}
            return {"functionResponse": answer}
        case Opaque(_, value):
            return value
        case _:
            assert_never(part)


def _signed(signature: str | None) -> JsonObject:
    return {} if signature is None else {_SIGNATURE: signature}


def _identified(call_id: str | None) -> JsonObject:
    return {} if call_id is None or call_id.startswith(OWN_ID) else {"id": call_id}


def _without_signature(part: MessagePart) -> MessagePart:
    match part:
        case Text(text):
            return Text(text)
        case Thought(text):
            return Thought(text)
        case FunctionCall(name, args, call_id):
            return FunctionCall(name, args, call_id)
        case Opaque(vendor, value):
            return Opaque(vendor, {name: inner for name, inner in value.items() if name != _SIGNATURE})
        case _:
            return part


def _without_media(part: MessagePart) -> MessagePart:
    return Text(in_words(part, "the conversation became too large")) if isinstance(part, InlineData) else part


def _with_stand_in(parts: list[JsonObject]) -> list[JsonObject]:
    """The first of the calls made together carries the signature of all of them."""
    first = next((position for position, part in enumerate(parts) if "functionCall" in part), None)
    if first is not None:
        parts[first] = {_SIGNATURE: _STAND_IN, **parts[first]}
    return parts


def _content(message: Message, parts: list[JsonObject]) -> bytes:
    # No message may be without parts, and no text empty.
    content: JsonObject = {"role": message.role.value, "parts": parts or [{"text": " "}]}
    return dump_json(content).encode()

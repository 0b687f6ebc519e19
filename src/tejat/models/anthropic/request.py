"""Anthropic's messages on the way out: a conversation as the bytes of a request."""

import re
from collections.abc import Sequence
from enum import StrEnum

from tejat.core.frozen import frozen, replace
from tejat.core.json_text import dump_json
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
)
from tejat.core.model import ModelRequest
from tejat.models.wire.common import (
    encode_base64,
    media_placeholder,
    object_schema,
    response_text,
    wire_arguments,
    wire_id,
    wire_name,
    wire_properties,
)

VENDOR = "anthropic"
ANSWER_TOOL = "give_answer"
"""The tool that a model is made to call when its answer is to be JSON."""
BODY_TAIL = b"]}"

_CACHE_CONTROL: JsonObject = {"type": "ephemeral"}
_EMPTY_TEXT = "(no text)"


class AnthropicJsonMode(StrEnum):
    """How an answer in JSON is asked for."""

    FORMAT = "output_config"
    TOOL = "tool"
    PROMPT = "words"


class ThinkingMode(StrEnum):
    """What is asked of a model that thinks: to show what it thought, to think, or nothing."""

    SUMMARIZED = "shown"
    ADAPTIVE = "hidden"
    OFF = "none"


@frozen
class AnthropicDialect:
    """What a server takes for a model. `forms` are those that are still to be tried, the best first."""

    max_output: int
    thinking: ThinkingMode = ThinkingMode.OFF
    json_modes: tuple[AnthropicJsonMode, ...] = (AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT)
    supports_caching: bool = True
    supports_temperature: bool = True
    supports_media: bool = True


_MODEL_VERSION = r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])"
_DEFAULT_OUTPUT = 32_000
_MAX_OUTPUT = 64_000


def dialect_for_model(model: str) -> AnthropicDialect:
    """What is known of a model by its name."""
    found = re.search(_MODEL_VERSION, model)
    if found is None:
        return AnthropicDialect(_DEFAULT_OUTPUT)
    version = (int(found[2]), int(found[3] or 0))
    if version < (4, 6):
        return AnthropicDialect(_max_output_before_4_6(version, is_opus=found[1] == "opus"))
    # Some of these refuse to be made to call a tool, and none takes a temperature while it thinks.
    return AnthropicDialect(
        _MAX_OUTPUT,
        ThinkingMode.SUMMARIZED,
        (AnthropicJsonMode.FORMAT, AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT),
    )


def _max_output_before_4_6(version: tuple[int, int], *, is_opus: bool) -> int:
    if version < (3, 5):
        return 4_096
    if version < (3, 7):
        return 8_192
    return 32_000 if is_opus and version < (4, 5) else _MAX_OUTPUT


def encode_head(model: str, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
    """A request up to its first message. What follows are encoded messages with commas between them, and CLOSING."""
    most = min(request.max_output_tokens or dialect.max_output, dialect.max_output)
    asked: dict[str, JsonValue] = {"model": model, "max_tokens": most, "stream": True}
    if request.temperature is not None and dialect.supports_temperature and dialect.thinking is ThinkingMode.OFF:
        asked["temperature"] = request.temperature
    return _open_body(asked | _prompt_fields(request, dialect))


def encode_count_head(model: str, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
    """The same for a request that is only to be counted."""
    return _open_body({"model": model, **_prompt_fields(request, dialect)})


def _open_body(asked: JsonObject) -> bytes:
    return f'{dump_json(asked)[:-1]},"messages":['.encode()


def _prompt_fields(request: ModelRequest, dialect: AnthropicDialect) -> dict[str, JsonValue]:
    """What counts as tokens, besides the messages."""
    form = dialect.json_modes[0] if request.response_schema is not None else None
    matter: dict[str, JsonValue] = {}
    # A model that is made to call a tool may not think first.
    if dialect.thinking is not ThinkingMode.OFF and form is not AnthropicJsonMode.TOOL:
        shown: JsonObject = {"display": "summarized"} if dialect.thinking is ThinkingMode.SUMMARIZED else {}
        matter["thinking"] = {"type": "adaptive", **shown}
    system = _system_prompt(request, form)
    if system.strip():
        matter["system"] = [_with_cache_control({"type": "text", "text": system}, dialect)]
    if request.response_schema is not None and form is AnthropicJsonMode.FORMAT:
        matter["output_config"] = {
            "format": {"type": "json_schema", "schema": _without_additional_properties(request.response_schema)}
        }
    return matter | _tool_fields(request, form, dialect)


def _system_prompt(request: ModelRequest, form: AnthropicJsonMode | None) -> str:
    if request.response_schema is None or form is not AnthropicJsonMode.PROMPT:
        return request.system
    wish = f"Answer with JSON and nothing else. It must fit this JSON schema:\n{dump_json(request.response_schema)}"
    return f"{request.system}\n\n{wish}" if request.system else wish


def _tool_fields(
    request: ModelRequest, form: AnthropicJsonMode | None, dialect: AnthropicDialect
) -> dict[str, JsonValue]:
    if request.response_schema is not None and form is AnthropicJsonMode.TOOL:
        answer = {
            "name": ANSWER_TOOL,
            "description": "Gives the answer.",
            "input_schema": object_schema(request.response_schema),
        }
        return {"tools": [answer], "tool_choice": {"type": "tool", "name": ANSWER_TOOL}}
    tools: list[JsonObject] = [
        {
            "name": wire_name(tool.name),
            "description": tool.description,
            "input_schema": wire_properties(object_schema(tool.parameters_json_schema)),
        }
        for tool in request.tools
    ]
    if tools:
        tools[-1] = _with_cache_control(tools[-1], dialect)
        return {"tools": tools}
    # A conversation in which tools were called is refused without any tools.
    called = sorted({wire_name(call.name) for message in request.messages for call in message.calls})
    if not called:
        return {}
    return {
        "tools": [{"name": name, "input_schema": object_schema({})} for name in called],
        "tool_choice": {"type": "none"},
    }


def _with_cache_control(block: JsonObject, dialect: AnthropicDialect) -> JsonObject:
    return {**block, "cache_control": _CACHE_CONTROL} if dialect.supports_caching else block


def _without_additional_properties(schema: JsonValue) -> JsonValue:
    """The schema with every object closed to properties that it does not name, as this form demands."""
    if isinstance(schema, dict):
        closed = {key: _without_additional_properties(value) for key, value in schema.items()}
        if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
            closed["additionalProperties"] = False
        return closed
    return [_without_additional_properties(item) for item in schema] if isinstance(schema, list) else schema


def encode_message(message: Message, *, thinking_model: str | None, media: bool) -> bytes:
    """One message. `thinker` is the model that gets its own thoughts back, None if none does.

    Without `media` it tells in words what was left out.
    """
    if message.role is Role.MODEL:
        role, content = "assistant", _assistant_content(message, thinking_model)
    else:
        role, content = "user", _user_content(message, media=media)
    return dump_json({"role": role, "content": content or [_text_block(_EMPTY_TEXT)]}).encode()


def add_cache_control(encoded: bytes) -> bytes:
    """An encoded message of the user up to which the service shall keep everything in its cache."""
    mark = dump_json({"cache_control": _CACHE_CONTROL})[1:]
    return encoded.removesuffix(b"}]}") + f",{mark}]}}".encode()


def _assistant_content(message: Message, thinking_model: str | None) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    calls: list[JsonObject] = []
    position = 0
    # Thoughts keep their places among the calls; what somebody else wrote gets the order that is sure to be taken.
    places = blocks if any(_is_own_thinking(part, thinking_model) for part in message.parts) else calls
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                blocks.append(_text_block(text))
            case InlineData() | FileData():
                blocks.append(_text_block(media_placeholder(part, "only text can be given back as an answer")))
            case FunctionCall():
                places.append(_tool_use(part, position))
                position += 1
            case Opaque(_, {"block": dict() as block}) if _is_own_thinking(part, thinking_model):
                blocks.append(block)
            case _:
                pass
    return blocks + calls


def _is_own_thinking(part: MessagePart, thinking_model: str | None) -> bool:
    """Whether this very model made the part: another could not read it, and the request would be refused."""
    return (
        thinking_model is not None
        and isinstance(part, Opaque)
        and part.vendor == VENDOR
        and part.value.get("model") == thinking_model
    )


def preserve_block(block: JsonObject, model: str) -> Opaque:
    """A block that goes back to the model that made it."""
    return Opaque(VENDOR, {"model": model, "block": block})


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _tool_use(call: FunctionCall, position: int) -> JsonObject:
    return {
        "type": "tool_use",
        "id": wire_id(call.id, position),
        "name": wire_name(call.name),
        "input": wire_arguments(call.args),
    }


def _user_content(message: Message, *, media: bool) -> list[JsonObject]:
    """The results of tools first, as the service demands, each with what follows it.

    Text behind the last result may be what the person wrote, so it stands for itself, and so does what comes after it.
    """
    results: list[tuple[FunctionResponse, list[JsonObject]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses)
    for part in message.parts:
        match part:
            case FunctionResponse():
                text = _tool_result_text(part)
                results.append((part, [_text_block(text)] if text.strip() else []))
                remaining -= 1
            case Text(text) if text.strip():
                (results[-1][1] if results and remaining else rest).append(_text_block(text))
            case InlineData() | FileData():
                block = _media_block(part) if media else _text_block(media_placeholder(part, "there is no room for it"))
                (results[-1][1] if results and not rest else rest).append(block)
            case _:
                pass
    return [_tool_result(*result, position) for position, result in enumerate(results)] + rest


def _tool_result_text(response: FunctionResponse) -> str:
    match response.response:
        case {"error": str(text)} if len(response.response) == 1:
            return text
        case _:
            return response_text(response.response)


def _tool_result(response: FunctionResponse, content: Sequence[JsonObject], position: int) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": wire_id(response.id, position), "content": content}
    return {**result, "is_error": True} if "error" in response.response else result


_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENT_TYPE = "application/pdf"
_MAX_IMAGE_BYTES = 5 * 2**20
_MAX_DOCUMENT_BYTES = 20 * 2**20


def _media_block(media: InlineData | FileData) -> JsonObject:
    is_document = media.mime_type == _DOCUMENT_TYPE
    if not is_document and media.mime_type not in _IMAGE_TYPES:
        return _text_block(media_placeholder(media))
    kind = "document" if is_document else "image"
    if isinstance(media, FileData):
        if not media.file_uri.startswith("https://"):
            return _text_block(media_placeholder(media))
        return {"type": kind, "source": {"type": "url", "url": media.file_uri}}
    # The service measures what goes over the wire.
    if len(media.data) * 4 // 3 > (_MAX_DOCUMENT_BYTES if is_document else _MAX_IMAGE_BYTES):
        return _text_block(media_placeholder(media, "it is too large for this service"))
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime_type, "data": encode_base64(media)}}


# Plain texts, as a server refuses seldom: to compile them would cost every start.
_MAX_TOKENS_EXCEEDED = r"max_tokens: \d{1,9} > (\d{1,9})\b"
_MEDIA_ERROR = r"image|document|pdf|media_type|multimodal|vision"
_JSON_MODE_ERROR = r"output_config|output_format|json_schema|tool_choice|structured output|schema"


def adapt_dialect(dialect: AnthropicDialect, request: ModelRequest, error: str) -> AnthropicDialect | None:
    """The dialect to try next, when a server has refused the request in these words; None if that would not help."""
    words = error.lower()
    limit = re.search(_MAX_TOKENS_EXCEEDED, words)
    if limit and 0 < int(limit[1]) < dialect.max_output:
        return replace(dialect, max_output=int(limit[1]))
    if dialect.supports_caching and "cache_control" in words:
        return replace(dialect, supports_caching=False)
    if request.response_schema is not None and len(dialect.json_modes) > 1 and re.search(_JSON_MODE_ERROR, words):
        return replace(dialect, json_modes=dialect.json_modes[1:])
    if dialect.thinking is ThinkingMode.SUMMARIZED and "display" in words:
        return replace(dialect, thinking=ThinkingMode.ADAPTIVE)
    if request.temperature is not None and dialect.supports_temperature and "temperature" in words:
        return replace(dialect, supports_temperature=False)
    if dialect.thinking is not ThinkingMode.OFF and re.search(r"\bthinking\b|\badaptive\b", words):
        return replace(dialect, thinking=ThinkingMode.OFF)
    has_media = any(isinstance(part, InlineData | FileData) for message in request.messages for part in message.parts)
    if dialect.supports_media and has_media and re.search(_MEDIA_ERROR, words):
        return replace(dialect, supports_media=False)
    return None


def is_thinking_block_error(error: str) -> bool:
    """Whether a server has refused thoughts that were given back to it: the conversation before them has changed."""
    words = error.lower()
    return "thinking" in words and bool(re.search(r"signature|\bblocks?\b|cannot be modified", words))

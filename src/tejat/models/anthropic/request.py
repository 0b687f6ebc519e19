"""Encoding of requests to Anthropic's Messages API."""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen, replace
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import FunctionDeclaration
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
from tejat.core.text.str_enum import StrEnum
from tejat.models.wire.common import (
    encode_base64,
    image_problem,
    json_prompt,
    media_placeholder,
    object_schema,
    response_text,
    wire_arguments,
    wire_id,
    wire_name,
    wire_properties,
)
from tejat.models.wire.generation import Effort, Generation, read_generation

VENDOR = "anthropic"
ANSWER_TOOL = "give_answer"
"""The tool that the model is forced to call when the response must be JSON."""
BODY_TAIL = b"]}"

_CACHE_CONTROL: JsonObject = {"type": "ephemeral"}
_EMPTY_TEXT = "(no text)"


class AnthropicJsonMode(StrEnum):
    """How to request a JSON response."""

    FORMAT = "output_config"
    TOOL = "tool"
    PROMPT = "words"


class ThinkingMode(StrEnum):
    """Which thinking to request: with summaries, without them, or none."""

    SUMMARIZED = "shown"
    ADAPTIVE = "hidden"
    OFF = "none"


class AnthropicDialect(Frozen):
    """What a server supports for a model. `json_modes` are those still to be tried, the best first."""

    max_output: int
    thinking: ThinkingMode = ThinkingMode.OFF
    json_modes: tuple[AnthropicJsonMode, ...] = (AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT)
    supports_caching: bool = True
    supports_temperature: bool = True
    supports_top_p: bool = True
    supports_effort: bool = False
    supports_media: bool = True


_EFFORTS = {Effort.NONE: Effort.LOW, Effort.MINIMAL: Effort.LOW}
"""The lowest effort of this service is `low`."""
_MODEL_VERSION = r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])"
_DEFAULT_OUTPUT = 32_000
_MAX_OUTPUT = 64_000


def dialect_for_model(model: str) -> AnthropicDialect:
    """Return the dialect known for a model name."""
    found = re.search(_MODEL_VERSION, model)
    if found is None:
        return AnthropicDialect(_DEFAULT_OUTPUT)
    version = (int(found[2]), int(found[3] or 0))
    if version < (4, 6):
        return AnthropicDialect(_max_output_before_4_6(version, is_opus=found[1] == "opus"))
    # Some of these reject a forced tool call, and none accepts a temperature with thinking.
    return AnthropicDialect(
        _MAX_OUTPUT,
        ThinkingMode.SUMMARIZED,
        (AnthropicJsonMode.FORMAT, AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT),
        supports_effort=True,
    )


def _max_output_before_4_6(version: tuple[int, int], *, is_opus: bool) -> int:
    if version < (3, 5):
        return 4_096
    if version < (3, 7):
        return 8_192
    return 32_000 if is_opus and version < (4, 5) else _MAX_OUTPUT


def encode_head(
    model: str, request: ModelRequest, dialect: AnthropicDialect, *, begin: JsonObject | None = None
) -> bytes:
    """Encode a request up to its first message. Encoded messages with commas between them and BODY_TAIL follow.

    `begin` replaces the fields that say which model is to stream its answer, for platforms that say it elsewhere.
    """
    generation = read_generation(request)
    max_tokens = min(generation.max_tokens or dialect.max_output, dialect.max_output)
    first: JsonObject = {"model": model, "stream": True} if begin is None else begin
    fields: dict[str, JsonValue] = {**first, "max_tokens": max_tokens}
    if dialect.thinking is ThinkingMode.OFF:
        fields |= _sampling_fields(generation, dialect)
    if generation.stop:
        fields["stop_sequences"] = generation.stop
    return _open_body(fields | _prompt_fields(request, dialect))


def _sampling_fields(generation: Generation, dialect: AnthropicDialect) -> dict[str, JsonValue]:
    """Return the temperature, or else top_p: newer models reject both together."""
    if generation.temperature is not None and dialect.supports_temperature:
        return {"temperature": generation.temperature}
    if generation.top_p is not None and dialect.supports_top_p:
        return {"top_p": generation.top_p}
    return {}


def encode_count_head(model: str, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
    """Encode the head of a request to count tokens."""
    return _open_body({"model": model, **_prompt_fields(request, dialect)})


def _open_body(fields: JsonObject) -> bytes:
    return f'{dump_json(fields)[:-1]},"messages":['.encode()


def _prompt_fields(request: ModelRequest, dialect: AnthropicDialect) -> dict[str, JsonValue]:
    """Return the fields that count as tokens, besides the messages."""
    form = dialect.json_modes[0] if request.response_schema is not None else None
    matter: dict[str, JsonValue] = {}
    # Forced tool calls exclude thinking.
    if dialect.thinking is not ThinkingMode.OFF and form is not AnthropicJsonMode.TOOL:
        shown: JsonObject = {"display": "summarized"} if dialect.thinking is ThinkingMode.SUMMARIZED else {}
        matter["thinking"] = {"type": "adaptive", **shown}
    system = request.system
    if request.response_schema is not None and form is AnthropicJsonMode.PROMPT:
        system = json_prompt(system, request.response_schema)
    if system.strip():
        matter["system"] = [_with_cache_control({"type": "text", "text": system}, dialect)]
    output: dict[str, JsonValue] = {}
    effort = read_generation(request).effort
    if effort is not None and dialect.supports_effort:
        output["effort"] = _EFFORTS.get(effort, effort)
    if request.response_schema is not None and form is AnthropicJsonMode.FORMAT:
        schema = _without_additional_properties(request.response_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    if output:
        matter["output_config"] = output
    return matter | _tool_fields(request, form, dialect)


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
    tools = list(map(encode_tool, request.tools))
    if tools:
        tools[-1] = _with_cache_control(tools[-1], dialect)
        return {"tools": tools}
    # The service rejects a conversation with tool calls and no declared tools.
    called = sorted({wire_name(call.name) for message in request.messages for call in message.calls})
    if not called:
        return {}
    return {
        "tools": [{"name": name, "input_schema": object_schema({})} for name in called],
        "tool_choice": {"type": "none"},
    }


def encode_tool(tool: FunctionDeclaration) -> JsonObject:
    """Return an element of `tools`."""
    return {
        "name": wire_name(tool.name),
        "description": tool.description,
        "input_schema": wire_properties(object_schema(tool.parameters_json_schema)),
    }


def _with_cache_control(block: JsonObject, dialect: AnthropicDialect) -> JsonObject:
    return {**block, "cache_control": _CACHE_CONTROL} if dialect.supports_caching else block


def _without_additional_properties(schema: JsonValue) -> JsonValue:
    """Return the schema with `additionalProperties: false` in every object, as structured output requires."""
    if isinstance(schema, dict):
        closed = {key: _without_additional_properties(value) for key, value in schema.items()}
        if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
            closed["additionalProperties"] = False
        return closed
    return [_without_additional_properties(item) for item in schema] if isinstance(schema, list) else schema


def encode_message(message: Message, *, thinking_model: str | None, media: bool) -> bytes:
    """Encode a message.

    `thinking_model` is the model whose thinking blocks are sent, None to send none. Without `media`, a text replaces
    them.
    """
    if message.role is Role.MODEL:
        role, content = "assistant", _assistant_content(message, thinking_model)
    else:
        role, content = "user", user_content(message, media=media)
    return dump_json({"role": role, "content": content or [_text_block(_EMPTY_TEXT)]}).encode()


def add_cache_control(encoded: bytes) -> bytes:
    """Mark an encoded user message as the end of a cached prefix."""
    mark = dump_json({"cache_control": _CACHE_CONTROL})[1:]
    return encoded.removesuffix(b"}]}") + f",{mark}]}}".encode()


def _assistant_content(message: Message, thinking_model: str | None) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    calls: list[JsonObject] = []
    position = 0
    # Thinking blocks keep their places among the calls; other models' messages get the order that is always accepted.
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
    """Return whether this model made the part. Others reject it."""
    return (
        thinking_model is not None
        and isinstance(part, Opaque)
        and part.vendor == VENDOR
        and part.value.get("model") == thinking_model
    )


def preserve_block(block: JsonObject, model: str) -> Opaque:
    """Wrap a block to be sent back to the model that made it."""
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


def user_content(message: Message, *, media: bool, results_only: bool = False) -> list[JsonObject]:
    """Return the content blocks of a user message, tool results first, as the service demands.

    Media and text follow the result they belong to. Text after the last result may come from the user and stands alone,
    unless there are `results_only`, which keep their ids.
    """
    results: list[tuple[FunctionResponse, list[JsonObject]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses) + results_only
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
    return [
        _tool_result(response, content, wire_id(response.id, position, keep=results_only))
        for position, (response, content) in enumerate(results)
    ] + rest


def _tool_result_text(response: FunctionResponse) -> str:
    match response.response:
        case {"error": str(text)} if len(response.response) == 1:
            return text
        case _:
            return response_text(response.response)


def _tool_result(response: FunctionResponse, content: Sequence[JsonObject], call_id: str) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
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
    # The limit applies to the encoded size.
    if len(media.data) * 4 // 3 > (_MAX_DOCUMENT_BYTES if is_document else _MAX_IMAGE_BYTES):
        return _text_block(media_placeholder(media, "it is too large for this service"))
    problem = image_problem(media)
    if problem is not None:
        return _text_block(media_placeholder(media, problem))
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime_type, "data": encode_base64(media)}}


# Not compiled: errors are rare, and compiling would slow down every start.
_MAX_TOKENS_EXCEEDED = r"max_tokens: \d{1,9} > (\d{1,9})\b"
_MEDIA_ERROR = r"image|document|pdf|media_type|multimodal|vision"
_JSON_MODE_ERROR = r"output_config|output_format|json_schema|tool_choice|structured output|schema"


def adapt_dialect(dialect: AnthropicDialect, request: ModelRequest, error: str) -> AnthropicDialect | None:
    """Return the dialect to try after this error; None if no change would help."""
    words = error.lower()
    limit = re.search(_MAX_TOKENS_EXCEEDED, words)
    if limit and 0 < int(limit[1]) < dialect.max_output:
        return replace(dialect, max_output=int(limit[1]))
    if dialect.supports_caching and "cache_control" in words:
        return replace(dialect, supports_caching=False)
    generation = read_generation(request)
    if generation.effort is not None and dialect.supports_effort and "effort" in words:
        return replace(dialect, supports_effort=False)
    if request.response_schema is not None and len(dialect.json_modes) > 1 and re.search(_JSON_MODE_ERROR, words):
        return replace(dialect, json_modes=dialect.json_modes[1:])
    if dialect.thinking is ThinkingMode.SUMMARIZED and "display" in words:
        return replace(dialect, thinking=ThinkingMode.ADAPTIVE)
    if generation.temperature is not None and dialect.supports_temperature and "temperature" in words:
        return replace(dialect, supports_temperature=False)
    if generation.top_p is not None and dialect.supports_top_p and "top_p" in words:
        return replace(dialect, supports_top_p=False)
    if dialect.thinking is not ThinkingMode.OFF and re.search(r"\bthinking\b|\badaptive\b", words):
        return replace(dialect, thinking=ThinkingMode.OFF)
    has_media = any(isinstance(part, InlineData | FileData) for message in request.messages for part in message.parts)
    if dialect.supports_media and has_media and re.search(_MEDIA_ERROR, words):
        return replace(dialect, supports_media=False)
    return None


def is_thinking_block_error(error: str) -> bool:
    """Return whether the error is about thinking blocks that were sent back after the conversation had changed."""
    words = error.lower()
    return "thinking" in words and bool(re.search(r"signature|\bblocks?\b|cannot be modified", words))

"""Encoding of requests to the Responses API. Nothing is stored at the service: reasoning goes back encrypted."""

import re
from collections.abc import Iterator
from typing import cast

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
    Opaque,
    Text,
)
from tejat.core.model import ModelRequest
from tejat.models.openai.request import has_media, refused_field, supported_effort
from tejat.models.wire.common import (
    data_url,
    image_problem,
    json_prompt,
    media_placeholder,
    object_schema,
    response_text,
    wire_id,
    wire_name,
)
from tejat.models.wire.generation import Effort, Generation, read_generation

VENDOR = "openai"
BODY_TAIL = b"]}"
_ENCRYPTED_REASONING = "reasoning.encrypted_content"
_REASONING_MODEL = r"(?:o[1-9]|codex|gpt-(?:[5-9]|\d\d))(?!.*chat)"


class ResponsesDialect(Frozen):
    """What a server supports for a model.

    `reasons`: the model has reasoning to send back. `summarizes`: it may summarise it for the user. `supports_schema`:
    JSON can be requested with a schema. For the other fields see `OpenAIDialect`.
    """

    reasons: bool = True
    summarizes: bool = True
    supports_cache_key: bool = True
    supports_schema: bool = True
    supports_media: bool = True
    refused_fields: frozenset[str] = frozenset()
    effort: Effort | None = None


def dialect_for_model(model: str) -> ResponsesDialect:
    """Return the dialect known for a model name: other models reject everything about reasoning."""
    reasons = re.match(_REASONING_MODEL, model) is not None
    return ResponsesDialect(reasons=reasons, summarizes=reasons)


def encode_head(model: str, request: ModelRequest, dialect: ResponsesDialect, *, cache_key: str = "") -> bytes:
    """Encode a request up to its first input item. Encoded messages with commas between them and BODY_TAIL follow.

    `cache_key` is the same for all requests of a conversation: they reach the machine that has its prompt in the cache.
    """
    fields: dict[str, JsonValue] = {"model": model, "stream": True, "store": False}
    if cache_key and dialect.supports_cache_key:
        fields["prompt_cache_key"] = cache_key
    if dialect.reasons:
        fields["include"] = [_ENCRYPTED_REASONING]
    fields |= _generation_fields(read_generation(request), dialect)
    system = request.system
    if request.response_schema is not None and not dialect.supports_schema:
        system = json_prompt(system, request.response_schema)
    elif request.response_schema is not None:
        schema = {"type": "json_schema", "name": "answer", "schema": request.response_schema, "strict": False}
        fields["text"] = {"format": schema}
    if system:
        fields["instructions"] = system
    if request.tools:
        fields["tools"] = list(map(encode_tool, request.tools))
    return f'{dump_json(fields)[:-1]},"input":['.encode()


def encode_tool(tool: FunctionDeclaration) -> JsonObject:
    """Return an element of `tools`."""
    return {
        "type": "function",
        "name": wire_name(tool.name),
        "description": tool.description,
        "parameters": object_schema(tool.parameters_json_schema),
        "strict": False,
    }


def _generation_fields(generation: Generation, dialect: ResponsesDialect) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    if generation.max_tokens is not None:
        fields["max_output_tokens"] = max(generation.max_tokens, _MIN_OUTPUT_TOKENS)
    if generation.temperature is not None:
        fields["temperature"] = generation.temperature
    if generation.top_p is not None:
        fields["top_p"] = generation.top_p
    fields = {name: value for name, value in fields.items() if name not in dialect.refused_fields}
    reasoning: dict[str, JsonValue] = {"summary": "auto"} if dialect.summarizes else {}
    if generation.effort is not None and "reasoning_effort" not in dialect.refused_fields:
        reasoning["effort"] = dialect.effort or generation.effort
    return {**fields, "reasoning": reasoning} if reasoning else fields


_MIN_OUTPUT_TOKENS = 16


def encode_message(message: Message, *, reasoning_model: str | None, media: bool) -> bytes:
    """Encode a message as one or more input items, with commas between them.

    `reasoning_model` is the model whose reasoning is sent, None to send none. Without `media`, a text replaces them.
    """
    if message.role is Role.MODEL:
        items = list(_assistant_items(message, reasoning_model))
    else:
        items = user_items(message, media=media)
    return ",".join(map(dump_json, items)).encode()


def preserve_item(item: JsonObject, model: str) -> Opaque:
    """Wrap an output item to be sent back to the model that made it."""
    return Opaque(VENDOR, {"model": model, "item": item})


def preserve_phase(phase: str, model: str) -> Opaque:
    """Wrap the phase of the text that follows: commentary, or the final answer."""
    return Opaque(VENDOR, {"model": model, "phase": phase})


def _assistant_items(message: Message, reasoning_model: str | None) -> Iterator[JsonObject]:
    """Yield the items in their order. Reasoning must directly precede what it led to."""
    position = 0
    phase: JsonObject = {}
    is_empty = True
    for part in message.parts:
        match part:
            case Opaque(vendor, {"model": model, **own}) if vendor == VENDOR and model == reasoning_model:
                found = own.get("phase")
                phase = {"phase": found} if isinstance(found, str) else phase
                if isinstance(item := own.get("item"), dict):
                    yield cast("JsonObject", item)
            case Text(text) if text.strip():
                is_empty = False
                yield {**_message("assistant", [{"type": "output_text", "text": text}]), **phase}
                phase = {}
            case InlineData() | FileData():
                is_empty = False
                text = media_placeholder(part, "only text can be given back as an answer")
                yield _message("assistant", [{"type": "output_text", "text": text}])
            case FunctionCall():
                is_empty = False
                yield _function_call(part, position)
                position += 1
            case _:
                pass
    if is_empty:
        # Reasoning alone is rejected, and there must be an item between two prompts.
        yield _message("assistant", [{"type": "output_text", "text": "(no text)"}])


def _message(role: str, content: list[JsonObject]) -> JsonObject:
    return {"type": "message", "role": role, "content": content}


def _function_call(call: FunctionCall, position: int) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": wire_id(call.id, position),
        "name": wire_name(call.name),
        "arguments": dump_json(cast("JsonObject", call.args)),
    }


def user_items(message: Message, *, media: bool, results_only: bool = False) -> list[JsonObject]:
    """Return the results of calls, each with its media, then everything else.

    Text between two results belongs to the first of them. Text after the last one may come from the user, unless there
    are `results_only`, which keep their ids.
    """
    results: list[tuple[FunctionResponse, list[JsonObject]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses) + results_only
    for part in message.parts:
        match part:
            case FunctionResponse():
                results.append((part, [_input_text(response_text(part.response))]))
                remaining -= 1
            case Text(text):
                (results[-1][1] if results and remaining else rest).append(_input_text(text))
            case InlineData() | FileData():
                (results[-1][1] if results and not rest else rest).append(_media_part(part, media=media))
            case _:
                pass
    items = [
        _function_call_output(wire_id(response.id, position, keep=results_only), content)
        for position, (response, content) in enumerate(results)
    ]
    if rest or not items:
        items.append(_message("user", rest or [_input_text(" ")]))
    return items


def _function_call_output(call_id: str, content: list[JsonObject]) -> JsonObject:
    has_text_only = all(part["type"] == "input_text" for part in content)
    output: JsonValue = "\n".join(str(part["text"]) for part in content) if has_text_only else content
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _input_text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENT_TYPE = "application/pdf"


def _media_part(part: InlineData | FileData, *, media: bool) -> JsonObject:
    if not media:
        return _input_text(media_placeholder(part, "this model takes only text"))
    is_image, is_document = part.mime_type in _IMAGE_TYPES, part.mime_type == _DOCUMENT_TYPE
    if isinstance(part, FileData):
        if is_image and part.file_uri.startswith(("http://", "https://")):
            return {"type": "input_image", "image_url": part.file_uri, "detail": "auto"}
        if is_document and part.file_uri.startswith("https://"):
            return {"type": "input_file", "file_url": part.file_uri}
    elif (problem := image_problem(part)) is not None:
        return _input_text(media_placeholder(part, problem))
    elif is_image:
        return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
    elif is_document:
        return {"type": "input_file", "filename": "document.pdf", "file_data": data_url(part)}
    return _input_text(media_placeholder(part))


# Not compiled: errors are rare, and compiling would slow down every start.
_MEDIA_ERROR = r"image|audio|video|vision|multimodal|multi-modal|modalit|\bfiles?\b|media|content type"


def adapt_dialect(dialect: ResponsesDialect, request: ModelRequest, error: str) -> ResponsesDialect | None:
    """Return the dialect to try after this error; None if no change would help."""
    words = error.lower()
    if dialect.supports_cache_key and "prompt_cache_key" in words:
        return replace(dialect, supports_cache_key=False)
    if dialect.summarizes and re.search(r"summar(?:y|ies)", words):
        return replace(dialect, summarizes=False)
    if dialect.reasons and re.search(r"encrypted[_ ]content|\binclude\b", words):
        return replace(dialect, reasons=False)
    generation = read_generation(request)
    refused = refused_field(generation, dialect.refused_fields, words)
    if refused == "reasoning_effort" and (effort := supported_effort(generation.effort, dialect.effort, words)):
        return replace(dialect, effort=effort)
    if refused is not None:
        return replace(dialect, refused_fields=dialect.refused_fields | {refused})
    is_limited = generation.max_tokens is not None and "max_output_tokens" not in dialect.refused_fields
    if is_limited and "max_output_tokens" in words:
        return replace(dialect, refused_fields=dialect.refused_fields | {"max_output_tokens"})
    if dialect.summarizes and re.search(r"\breasoning\b", words):
        return replace(dialect, summarizes=False, reasons=False)
    if request.response_schema is not None and dialect.supports_schema and re.search(r"schema|text\.format", words):
        return replace(dialect, supports_schema=False)
    if dialect.supports_media and re.search(_MEDIA_ERROR, words) and any(map(has_media, request.messages)):
        return replace(dialect, supports_media=False)
    return None


def is_reasoning_error(error: str) -> bool:
    """Return whether the error is about reasoning that was sent back: of another account, or without what followed."""
    words = error.lower()
    is_invalid = "encrypted" in words and re.search(r"could not be|invalid|verif|decrypt", words)
    is_misplaced = "reasoning" in words and re.search(r"following item|without its|item with id|not found", words)
    return bool(is_invalid or is_misplaced)

"""Encoding of requests to the Chat Completions API.

Servers differ in what they support; what a server rejects is recorded in an `OpenAIDialect`.
"""

import re
from collections.abc import Sequence
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
    MessagePart,
    Text,
    Thought,
)
from tejat.core.model import ModelRequest
from tejat.core.text.str_enum import StrEnum
from tejat.models.wire.common import (
    data_url,
    encode_base64,
    image_problem,
    json_prompt,
    media_placeholder,
    object_schema,
    response_text,
    wire_id,
    wire_name,
)
from tejat.models.wire.generation import Effort, Generation, read_generation
from tejat.models.wire.text_tool_calls import tools_prompt, write_calls, write_result

BODY_TAIL = b"]}"


class OpenAIJsonMode(StrEnum):
    """How to request a JSON response."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "words"


class OutputLimitField(StrEnum):
    """The name of the field that limits output tokens."""

    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    MAX_TOKENS = "max_tokens"
    NONE = ""


class OpenAIDialect(Frozen):
    """What a server supports.

    `returns_reasoning`: it wants reasoning text sent back. `max_description` limits the description of a tool in
    characters, 0 for no limit. `text_tools`: it drops tools, so they go into the system prompt, and calls and results
    are text. `refused_fields` are generation settings that it does not take, `effort` is the reasoning effort that it
    takes instead of the wanted one.
    """

    supports_usage: bool = True
    limit_field: OutputLimitField = OutputLimitField.MAX_TOKENS
    refused_fields: frozenset[str] = frozenset()
    effort: Effort | None = None
    json_mode: OpenAIJsonMode = OpenAIJsonMode.SCHEMA
    returns_reasoning: bool = False
    supports_media: bool = True
    max_description: int = 0
    text_tools: bool = False


def encode_head(model: str, request: ModelRequest, dialect: OpenAIDialect) -> bytes:
    """Encode a request up to its first message. Encoded messages with commas between them and BODY_TAIL follow."""
    fields: dict[str, JsonValue] = {"model": model, "stream": True}
    if dialect.supports_usage:
        fields["stream_options"] = {"include_usage": True}
    fields |= _generation_fields(read_generation(request), dialect)
    if request.tools and not dialect.text_tools:
        fields["tools"] = [encode_tool(tool, dialect) for tool in request.tools]
    if request.response_schema is not None and dialect.json_mode is not OpenAIJsonMode.PROMPT:
        fields["response_format"] = _response_format(request.response_schema, dialect.json_mode)
    system = request.system
    if request.response_schema is not None and dialect.json_mode is not OpenAIJsonMode.SCHEMA:
        system = json_prompt(system, request.response_schema)
    if request.tools and dialect.text_tools:
        system = f"{system}\n\n{tools_prompt(request.tools)}".lstrip()
    first = f"{dump_json({'role': 'system', 'content': system})}," if system else ""
    return f'{dump_json(fields)[:-1]},"messages":[{first}'.encode()


def encode_tool(tool: FunctionDeclaration, dialect: OpenAIDialect) -> JsonObject:
    """Return an element of `tools`."""
    function: JsonObject = {
        "name": wire_name(tool.name),
        "description": tool.description[: dialect.max_description or None],
        "parameters": object_schema(tool.parameters_json_schema),
    }
    return {"type": "function", "function": function}


def _generation_fields(generation: Generation, dialect: OpenAIDialect) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    if generation.max_tokens is not None and dialect.limit_field:
        fields[dialect.limit_field] = generation.max_tokens
    if generation.temperature is not None:
        fields["temperature"] = generation.temperature
    if generation.top_p is not None:
        fields["top_p"] = generation.top_p
    if generation.stop:
        fields["stop"] = generation.stop
    if generation.seed is not None:
        fields["seed"] = generation.seed
    if generation.effort is not None:
        fields["reasoning_effort"] = dialect.effort or generation.effort
    return {name: value for name, value in fields.items() if name not in dialect.refused_fields}


def _response_format(schema: JsonObject, form: OpenAIJsonMode) -> JsonObject:
    if form is OpenAIJsonMode.OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def encode_message(message: Message, dialect: OpenAIDialect) -> bytes:
    """Encode a message as one or more wire messages, with commas between them: each tool result is one of its own."""
    if message.role is Role.MODEL:
        encoded: Sequence[JsonObject] = [_assistant_message(message, dialect)]
    else:
        encoded = user_messages(message, dialect)
    return ",".join(map(dump_json, encoded)).encode()


def _assistant_message(message: Message, dialect: OpenAIDialect) -> JsonObject:
    text = "".join(_part_text(part) for part in message.parts)
    if dialect.text_tools and message.calls:
        return {"role": "assistant", "content": "\n".join(filter(None, (text.strip(), write_calls(message.calls))))}
    encoded: dict[str, JsonValue] = {"role": "assistant", "content": text or None}
    if dialect.returns_reasoning:
        encoded["reasoning_content"] = "".join(part.text for part in message.parts if isinstance(part, Thought))
    calls = message.calls
    if calls:
        encoded["tool_calls"] = [_tool_call(call, position) for position, call in enumerate(calls)]
    elif not text:
        # A message must not be empty, for example when it held only thoughts.
        encoded["content"] = "(no text)"
    return encoded


def _part_text(part: MessagePart) -> str:
    match part:
        case Text(text):
            return text
        case InlineData() | FileData():
            return media_placeholder(part, "only text can be given back as an answer")
        case _:
            return ""


def _tool_call(call: FunctionCall, position: int) -> JsonObject:
    arguments = dump_json(cast("JsonObject", call.args))
    function: JsonObject = {"name": wire_name(call.name), "arguments": arguments}
    return {"id": wire_id(call.id, position), "type": "function", "function": function}


def user_messages(message: Message, dialect: OpenAIDialect, *, results_only: bool = False) -> list[JsonObject]:
    """Return tool results first, as they must directly follow their calls, then everything else.

    Text between two results belongs to the first of them. Text after the last one may come from the user, unless there
    are `results_only`, which keep their ids. Results cannot hold media, so media follow with the name of the tool.
    """
    answers: list[tuple[FunctionResponse, list[str]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses) + results_only
    for part in message.parts:
        match part:
            case FunctionResponse():
                answers.append((part, [response_text(part.response)]))
                remaining -= 1
            case Text(text) if answers and remaining:
                answers[-1][1].append(text)
            case Text(text):
                rest.append({"type": "text", "text": text})
            case InlineData() | FileData():
                if answers:
                    rest.append({"type": "text", "text": f"From {answers[-1][0].name}:"})
                rest.append(_media_part(part, dialect))
            case _:
                pass
    if dialect.text_tools and answers:
        written = (write_result(response.name, "\n".join(texts)) for response, texts in answers)
        rest = [*({"type": "text", "text": text} for text in written), *rest]
        return [{"role": "user", "content": _message_content(rest)}]
    encoded: list[JsonObject] = [
        {"role": "tool", "tool_call_id": wire_id(response.id, position, keep=results_only), "content": "\n".join(texts)}
        for position, (response, texts) in enumerate(answers)
    ]
    if rest or not encoded:
        encoded.append({"role": "user", "content": _message_content(rest)})
    return encoded


def _message_content(parts: list[JsonObject]) -> JsonValue:
    """Return text alone as a plain string, which every server understands."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return parts


_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def _media_part(media: InlineData | FileData, dialect: OpenAIDialect) -> JsonObject:
    if not dialect.supports_media:
        return {"type": "text", "text": media_placeholder(media, "this model takes only text")}
    if isinstance(media, FileData):
        if media.mime_type in _IMAGE_TYPES and media.file_uri.startswith(("http://", "https://")):
            return {"type": "image_url", "image_url": {"url": media.file_uri}}
    elif (problem := image_problem(media)) is not None:
        return {"type": "text", "text": media_placeholder(media, problem)}
    elif media.mime_type in _IMAGE_TYPES:
        return {"type": "image_url", "image_url": {"url": data_url(media)}}
    elif media.mime_type in _AUDIO_FORMATS:
        recording: JsonObject = {"data": encode_base64(media), "format": _AUDIO_FORMATS[media.mime_type]}
        return {"type": "input_audio", "input_audio": recording}
    elif media.mime_type == "application/pdf":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": data_url(media)}}
    return {"type": "text", "text": media_placeholder(media)}


# Not compiled: errors are rare, and compiling would slow down every start.
_UNKNOWN_FIELD = (
    r"unsupported|not supported|does not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed"
    r"|invalid (?:parameter|argument|field)|is deprecated"
)
_DESCRIPTION_TOO_LONG = r"\.function\.description'?: string too long\b[^0-9]{0,80}?maximum length ([1-9]\d{1,5})\b"
_TOOLS_ERROR = (
    r"(?:does|do) not support (?:the use of )?(?:tools?|function)|tools? (?:is|are) not supported|tools param requires"
    r"|tool (?:use|calling|choice)[^.]{0,40} (?:not supported|requires)"
)
_LIMIT_TOO_HIGH = r"too large|at most|less than or equal"
_MEDIA_ERROR = r"image|audio|video|vision|multimodal|multi-modal|mmproj|modalit|\bfiles?\b|media|content type"
_NEXT_LIMIT = {
    OutputLimitField.MAX_TOKENS: OutputLimitField.MAX_COMPLETION_TOKENS,
    OutputLimitField.MAX_COMPLETION_TOKENS: OutputLimitField.NONE,
}
_NEXT_JSON_MODE = {OpenAIJsonMode.SCHEMA: OpenAIJsonMode.OBJECT, OpenAIJsonMode.OBJECT: OpenAIJsonMode.PROMPT}


def adapt_dialect(dialect: OpenAIDialect, request: ModelRequest, error: str) -> OpenAIDialect | None:
    """Return the dialect to try after this error; None if no change would help."""
    words = error.lower()
    limit = re.search(_DESCRIPTION_TOO_LONG, words)
    if limit and (not dialect.max_description or int(limit[1]) < dialect.max_description):
        return replace(dialect, max_description=int(limit[1]))
    if request.tools and not dialect.text_tools and re.search(_TOOLS_ERROR, words):
        return replace(dialect, text_tools=True)
    if dialect.supports_usage and ("stream_options" in words or "include_usage" in words):
        return replace(dialect, supports_usage=False)
    if "reasoning_content" in words:
        return replace(dialect, returns_reasoning=not dialect.returns_reasoning)
    asks_for_json = request.response_schema is not None and dialect.json_mode in _NEXT_JSON_MODE
    if asks_for_json and re.search(r"response_format|json_schema|json_object|json schema|grammar", words):
        return replace(dialect, json_mode=_NEXT_JSON_MODE[dialect.json_mode])
    generation = read_generation(request)
    refused = refused_field(generation, dialect.refused_fields, words)
    if refused == "reasoning_effort" and (effort := supported_effort(generation.effort, dialect.effort, words)):
        return replace(dialect, effort=effort)
    if refused is not None:
        return replace(dialect, refused_fields=dialect.refused_fields | {refused})
    is_limited = generation.max_tokens is not None and dialect.limit_field in _NEXT_LIMIT
    if is_limited and re.search(r"max_(?:completion_)?tokens", words):
        if re.search(_LIMIT_TOO_HIGH, words):
            return replace(dialect, limit_field=OutputLimitField.NONE)
        if re.search(_UNKNOWN_FIELD, words):
            return replace(dialect, limit_field=_NEXT_LIMIT[dialect.limit_field])
    if dialect.supports_media and re.search(_MEDIA_ERROR, words) and any(map(has_media, request.messages)):
        return replace(dialect, supports_media=False)
    return None


_FIELD_NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": r"\bstop\b",
    "seed": r"\bseed\b",
    "reasoning_effort": r"reasoning[_.]effort|reasoning effort",
}


def refused_field(generation: Generation, refused: frozenset[str], words: str) -> str | None:
    """Return the generation setting of a request that an error is about."""
    sent = {
        "temperature": generation.temperature is not None,
        "top_p": generation.top_p is not None,
        "stop": bool(generation.stop),
        "seed": generation.seed is not None,
        "reasoning_effort": generation.effort is not None,
    }
    named = (name for name, is_sent in sent.items() if is_sent and name not in refused)
    return next((name for name in named if re.search(_FIELD_NAMES[name], words)), None)


def supported_effort(wanted: Effort | None, tried: Effort | None, words: str) -> Effort | None:
    """Return the reasoning effort nearest to the wanted one that an error names as supported; None if it names none."""
    _, _, listed = words.partition("supported values")
    supported = [effort for effort in Effort if re.search(rf"['\"`]{effort.value}['\"`]", listed)]
    if wanted is None or not supported or tried in supported:
        return None
    order = list(Effort)
    return min(supported, key=lambda effort: abs(order.index(effort) - order.index(wanted)))


def has_media(message: Message) -> bool:
    """Return whether a message holds media."""
    return any(isinstance(part, InlineData | FileData) for part in message.parts)

"""OpenAI's chat completions on the way out: a conversation as the bytes of a request.

Many servers speak this language, each a little differently. What a server turns out not to take is kept in a `Dialect`.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import cast

from tejat.core.history import Message, Role
from tejat.core.json_text import dump_json
from tejat.core.model import ModelRequest
from tejat.core.types import (
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
from tejat.core.value import replace, value
from tejat.models.portable import data_url, in_base64, in_words, object_schema, response_text, wire_id, wire_name

CLOSING = b"]}"


class AnswerForm(StrEnum):
    """How an answer in JSON is asked for."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    WORDS = "words"


class LimitField(StrEnum):
    """What the most tokens of an answer are called."""

    NEW = "max_completion_tokens"
    OLD = "max_tokens"
    NONE = ""


@value
class Dialect:
    """What a server takes: whether it counts tokens while it streams, which limit it knows, and so on.

    `thoughts` says that it wants to have back what its model thought. `description` is how many characters may be said
    of a tool, 0 for any number.
    """

    usage: bool = True
    limit: LimitField = LimitField.OLD
    temperature: bool = True
    form: AnswerForm = AnswerForm.SCHEMA
    thoughts: bool = False
    media: bool = True
    description: int = 0


def opening(model: str, request: ModelRequest, dialect: Dialect) -> bytes:
    """A request up to its first message. What follows are encoded messages with commas between them, and CLOSING."""
    asked: dict[str, JsonValue] = {"model": model, "stream": True}
    if dialect.usage:
        asked["stream_options"] = {"include_usage": True}
    if request.most_output_tokens is not None and dialect.limit:
        asked[dialect.limit] = request.most_output_tokens
    if request.temperature is not None and dialect.temperature:
        asked["temperature"] = request.temperature
    if request.tools:
        asked["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": wire_name(tool.name),
                    "description": tool.description[: dialect.description or None],
                    "parameters": object_schema(tool.parameters_json_schema),
                },
            }
            for tool in request.tools
        ]
    if request.answer_schema is not None and dialect.form is not AnswerForm.WORDS:
        asked["response_format"] = _response_format(request.answer_schema, dialect.form)
    system = _system(request, dialect)
    first = f"{dump_json({'role': 'system', 'content': system})}," if system else ""
    return f'{dump_json(asked)[:-1]},"messages":[{first}'.encode()


def _response_format(schema: JsonObject, form: AnswerForm) -> JsonObject:
    if form is AnswerForm.OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def _system(request: ModelRequest, dialect: Dialect) -> str:
    if request.answer_schema is None or dialect.form is AnswerForm.SCHEMA:
        return request.system
    wish = f"Answer with JSON and nothing else. It must fit this JSON schema:\n{dump_json(request.answer_schema)}"
    return f"{request.system}\n\n{wish}" if request.system else wish


def encode_message(message: Message, dialect: Dialect) -> bytes:
    """The messages that one of ours becomes, with commas between them: each answer of a tool is one of its own."""
    if message.role is Role.MODEL:
        encoded: Sequence[JsonObject] = [_assistant(message, dialect)]
    else:
        encoded = _user(message, dialect)
    return ",".join(map(dump_json, encoded)).encode()


def _assistant(message: Message, dialect: Dialect) -> JsonObject:
    text = "".join(_spoken(part) for part in message.parts)
    encoded: dict[str, JsonValue] = {"role": "assistant", "content": text or None}
    if dialect.thoughts:
        encoded["reasoning_content"] = "".join(part.text for part in message.parts if isinstance(part, Thought))
    calls = message.calls
    if calls:
        encoded["tool_calls"] = [_call(call, position) for position, call in enumerate(calls)]
    elif not text:
        # Thoughts that nobody wants back, for example: a message must say something.
        encoded["content"] = "(no text)"
    return encoded


def _spoken(part: MessagePart) -> str:
    match part:
        case Text(text):
            return text
        case InlineData() | FileData():
            return in_words(part, "only text can be given back as an answer")
        case _:
            return ""


def _call(call: FunctionCall, position: int) -> JsonObject:
    arguments = dump_json(cast("JsonObject", call.args))
    function: JsonObject = {"name": wire_name(call.name), "arguments": arguments}
    return {"id": wire_id(call.id, position), "type": "function", "function": function}


def _user(message: Message, dialect: Dialect) -> list[JsonObject]:
    """The answers of tools first, as they must follow their calls directly; then everything else.

    Text behind an answer that another answer follows belongs to it. Text behind the last one may be what the person
    wrote. Media have no place in an answer, so they follow, with the name of the tool.
    """
    answers: list[tuple[FunctionResponse, list[str]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses)
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
                rest.append(_media(part, dialect))
            case _:
                pass
    encoded: list[JsonObject] = [
        {"role": "tool", "tool_call_id": wire_id(response.id, position), "content": "\n".join(texts)}
        for position, (response, texts) in enumerate(answers)
    ]
    if rest or not encoded:
        encoded.append({"role": "user", "content": _content(rest)})
    return encoded


def _content(parts: list[JsonObject]) -> JsonValue:
    """Text alone goes as a plain string, which every server understands."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return parts


_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_RECORDINGS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def _media(media: InlineData | FileData, dialect: Dialect) -> JsonObject:
    if not dialect.media:
        return {"type": "text", "text": in_words(media, "this model takes only text")}
    if isinstance(media, FileData):
        if media.mime_type in _PICTURES and media.file_uri.startswith(("http://", "https://")):
            return {"type": "image_url", "image_url": {"url": media.file_uri}}
    elif media.mime_type in _PICTURES:
        return {"type": "image_url", "image_url": {"url": data_url(media)}}
    elif media.mime_type in _RECORDINGS:
        recording: JsonObject = {"data": in_base64(media), "format": _RECORDINGS[media.mime_type]}
        return {"type": "input_audio", "input_audio": recording}
    elif media.mime_type == "application/pdf":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": data_url(media)}}
    return {"type": "text", "text": in_words(media)}


# Plain texts, as a server refuses seldom: to compile them would cost every start.
_UNKNOWN_FIELD = (
    r"unsupported|not supported|does not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed"
    r"|invalid (?:parameter|argument|field)|is deprecated"
)
_LONG_DESCRIPTION = r"\.function\.description'?: string too long\b[^0-9]{0,80}?maximum length ([1-9]\d{1,5})\b"
_TOO_MUCH = r"too large|at most|less than or equal"
_ABOUT_MEDIA = r"image|audio|video|vision|multimodal|multi-modal|mmproj|modalit|\bfiles?\b|media|content type"
_NEXT_LIMIT = {LimitField.OLD: LimitField.NEW, LimitField.NEW: LimitField.NONE}
_NEXT_FORM = {AnswerForm.SCHEMA: AnswerForm.OBJECT, AnswerForm.OBJECT: AnswerForm.WORDS}


def learned(dialect: Dialect, request: ModelRequest, refusal: str) -> Dialect | None:
    """The dialect to try next, when a server has refused the request in these words; None if that would not help."""
    words = refusal.lower()
    limit = re.search(_LONG_DESCRIPTION, words)
    if limit and (not dialect.description or int(limit[1]) < dialect.description):
        return replace(dialect, description=int(limit[1]))
    if dialect.usage and ("stream_options" in words or "include_usage" in words):
        return replace(dialect, usage=False)
    if "reasoning_content" in words:
        return replace(dialect, thoughts=not dialect.thoughts)
    asks_for_json = request.answer_schema is not None and dialect.form in _NEXT_FORM
    if asks_for_json and re.search(r"response_format|json_schema|json_object|json schema|grammar", words):
        return replace(dialect, form=_NEXT_FORM[dialect.form])
    if request.temperature is not None and dialect.temperature and "temperature" in words:
        return replace(dialect, temperature=False)
    is_limited = request.most_output_tokens is not None and dialect.limit in _NEXT_LIMIT
    if is_limited and re.search(r"max_(?:completion_)?tokens", words):
        if re.search(_TOO_MUCH, words):
            return replace(dialect, limit=LimitField.NONE)
        if re.search(_UNKNOWN_FIELD, words):
            return replace(dialect, limit=_NEXT_LIMIT[dialect.limit])
    if dialect.media and re.search(_ABOUT_MEDIA, words) and any(map(_has_media, request.messages)):
        return replace(dialect, media=False)
    return None


def _has_media(message: Message) -> bool:
    return any(isinstance(part, InlineData | FileData) for part in message.parts)

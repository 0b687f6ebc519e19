"""Anthropic's messages on the way out: a conversation as the bytes of a request."""

import re
from collections.abc import Sequence
from enum import StrEnum

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
    Opaque,
    Text,
)
from tejat.core.value import replace, value
from tejat.models.portable import (
    in_base64,
    in_words,
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
CLOSING = b"]}"

_MARK: JsonObject = {"type": "ephemeral"}
_SAYS_NOTHING = "(no text)"


class AnswerForm(StrEnum):
    """How an answer in JSON is asked for."""

    FORMAT = "output_config"
    TOOL = "tool"
    WORDS = "words"


class Thinking(StrEnum):
    """What is asked of a model that thinks: to show what it thought, to think, or nothing."""

    SHOWN = "shown"
    HIDDEN = "hidden"
    NONE = "none"


@value
class Dialect:
    """What a server takes for a model. `forms` are those that are still to be tried, the best first."""

    most_output: int
    thinking: Thinking = Thinking.NONE
    forms: tuple[AnswerForm, ...] = (AnswerForm.TOOL, AnswerForm.WORDS)
    caching: bool = True
    temperature: bool = True
    media: bool = True


_VERSION = r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])"
_USUAL_OUTPUT = 32_000
_MOST_OUTPUT = 64_000


def usual_dialect(model: str) -> Dialect:
    """What is known of a model by its name."""
    found = re.search(_VERSION, model)
    if found is None:
        return Dialect(_USUAL_OUTPUT)
    version = (int(found[2]), int(found[3] or 0))
    if version < (4, 6):
        return Dialect(_old_output(version, is_opus=found[1] == "opus"))
    # Some of these refuse to be made to call a tool, and none takes a temperature while it thinks.
    return Dialect(_MOST_OUTPUT, Thinking.SHOWN, (AnswerForm.FORMAT, AnswerForm.TOOL, AnswerForm.WORDS))


def _old_output(version: tuple[int, int], *, is_opus: bool) -> int:
    if version < (3, 5):
        return 4_096
    if version < (3, 7):
        return 8_192
    return 32_000 if is_opus and version < (4, 5) else _MOST_OUTPUT


def opening(model: str, request: ModelRequest, dialect: Dialect) -> bytes:
    """A request up to its first message. What follows are encoded messages with commas between them, and CLOSING."""
    most = min(request.most_output_tokens or dialect.most_output, dialect.most_output)
    asked: dict[str, JsonValue] = {"model": model, "max_tokens": most, "stream": True}
    if request.temperature is not None and dialect.temperature and dialect.thinking is Thinking.NONE:
        asked["temperature"] = request.temperature
    return _opened(asked | _matter(request, dialect))


def counting_opening(model: str, request: ModelRequest, dialect: Dialect) -> bytes:
    """The same for a request that is only to be counted."""
    return _opened({"model": model, **_matter(request, dialect)})


def _opened(asked: JsonObject) -> bytes:
    return f'{dump_json(asked)[:-1]},"messages":['.encode()


def _matter(request: ModelRequest, dialect: Dialect) -> dict[str, JsonValue]:
    """What counts as tokens, besides the messages."""
    form = dialect.forms[0] if request.answer_schema is not None else None
    matter: dict[str, JsonValue] = {}
    # A model that is made to call a tool may not think first.
    if dialect.thinking is not Thinking.NONE and form is not AnswerForm.TOOL:
        shown: JsonObject = {"display": "summarized"} if dialect.thinking is Thinking.SHOWN else {}
        matter["thinking"] = {"type": "adaptive", **shown}
    system = _system(request, form)
    if system.strip():
        matter["system"] = [_marked({"type": "text", "text": system}, dialect)]
    if request.answer_schema is not None and form is AnswerForm.FORMAT:
        matter["output_config"] = {"format": {"type": "json_schema", "schema": _closed(request.answer_schema)}}
    return matter | _tools(request, form, dialect)


def _system(request: ModelRequest, form: AnswerForm | None) -> str:
    if request.answer_schema is None or form is not AnswerForm.WORDS:
        return request.system
    wish = f"Answer with JSON and nothing else. It must fit this JSON schema:\n{dump_json(request.answer_schema)}"
    return f"{request.system}\n\n{wish}" if request.system else wish


def _tools(request: ModelRequest, form: AnswerForm | None, dialect: Dialect) -> dict[str, JsonValue]:
    if request.answer_schema is not None and form is AnswerForm.TOOL:
        answer = {
            "name": ANSWER_TOOL,
            "description": "Gives the answer.",
            "input_schema": object_schema(request.answer_schema),
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
        tools[-1] = _marked(tools[-1], dialect)
        return {"tools": tools}
    # A conversation in which tools were called is refused without any tools.
    called = sorted({wire_name(call.name) for message in request.messages for call in message.calls})
    if not called:
        return {}
    return {
        "tools": [{"name": name, "input_schema": object_schema({})} for name in called],
        "tool_choice": {"type": "none"},
    }


def _marked(block: JsonObject, dialect: Dialect) -> JsonObject:
    return {**block, "cache_control": _MARK} if dialect.caching else block


def _closed(schema: JsonValue) -> JsonValue:
    """The schema with every object closed to properties that it does not name, as this form demands."""
    if isinstance(schema, dict):
        closed = {key: _closed(value) for key, value in schema.items()}
        if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
            closed["additionalProperties"] = False
        return closed
    return [_closed(item) for item in schema] if isinstance(schema, list) else schema


def encode_message(message: Message, *, thinker: str | None, media: bool) -> bytes:
    """One message. `thinker` is the model that gets its own thoughts back, None if none does.

    Without `media` it tells in words what was left out.
    """
    if message.role is Role.MODEL:
        role, content = "assistant", _assistant(message, thinker)
    else:
        role, content = "user", _user(message, media=media)
    return dump_json({"role": role, "content": content or [_text(_SAYS_NOTHING)]}).encode()


def marked_message(encoded: bytes) -> bytes:
    """An encoded message of the user up to which the service shall keep everything in its cache."""
    mark = dump_json({"cache_control": _MARK})[1:]
    return encoded.removesuffix(b"}]}") + f",{mark}]}}".encode()


def _assistant(message: Message, thinker: str | None) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    calls: list[JsonObject] = []
    position = 0
    # Thoughts keep their places among the calls; what somebody else wrote gets the order that is sure to be taken.
    places = blocks if any(_is_own(part, thinker) for part in message.parts) else calls
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                blocks.append(_text(text))
            case InlineData() | FileData():
                blocks.append(_text(in_words(part, "only text can be given back as an answer")))
            case FunctionCall():
                places.append(_call(part, position))
                position += 1
            case Opaque(_, {"block": dict() as block}) if _is_own(part, thinker):
                blocks.append(block)
            case _:
                pass
    return blocks + calls


def _is_own(part: MessagePart, thinker: str | None) -> bool:
    """Whether this very model made the part: another could not read it, and the request would be refused."""
    return (
        thinker is not None
        and isinstance(part, Opaque)
        and part.vendor == VENDOR
        and part.value.get("model") == thinker
    )


def kept_block(block: JsonObject, model: str) -> Opaque:
    """A block that goes back to the model that made it."""
    return Opaque(VENDOR, {"model": model, "block": block})


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _call(call: FunctionCall, position: int) -> JsonObject:
    return {
        "type": "tool_use",
        "id": wire_id(call.id, position),
        "name": wire_name(call.name),
        "input": wire_arguments(call.args),
    }


def _user(message: Message, *, media: bool) -> list[JsonObject]:
    """The results of tools first, as the service demands, each with what follows it.

    Text behind the last result may be what the person wrote, so it stands for itself, and so does what comes after it.
    """
    results: list[tuple[FunctionResponse, list[JsonObject]]] = []
    rest: list[JsonObject] = []
    remaining = len(message.responses)
    for part in message.parts:
        match part:
            case FunctionResponse():
                text = _result_text(part)
                results.append((part, [_text(text)] if text.strip() else []))
                remaining -= 1
            case Text(text) if text.strip():
                (results[-1][1] if results and remaining else rest).append(_text(text))
            case InlineData() | FileData():
                block = _media(part) if media else _text(in_words(part, "there is no room for it"))
                (results[-1][1] if results and not rest else rest).append(block)
            case _:
                pass
    return [_result(*result, position) for position, result in enumerate(results)] + rest


def _result_text(response: FunctionResponse) -> str:
    match response.response:
        case {"error": str(text)} if len(response.response) == 1:
            return text
        case _:
            return response_text(response.response)


def _result(response: FunctionResponse, content: Sequence[JsonObject], position: int) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": wire_id(response.id, position), "content": content}
    return {**result, "is_error": True} if "error" in response.response else result


_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENT = "application/pdf"
_LARGEST_PICTURE = 5 * 2**20
_LARGEST_DOCUMENT = 20 * 2**20


def _media(media: InlineData | FileData) -> JsonObject:
    is_document = media.mime_type == _DOCUMENT
    if not is_document and media.mime_type not in _PICTURES:
        return _text(in_words(media))
    kind = "document" if is_document else "image"
    if isinstance(media, FileData):
        if not media.file_uri.startswith("https://"):
            return _text(in_words(media))
        return {"type": kind, "source": {"type": "url", "url": media.file_uri}}
    # The service measures what goes over the wire.
    if len(media.data) * 4 // 3 > (_LARGEST_DOCUMENT if is_document else _LARGEST_PICTURE):
        return _text(in_words(media, "it is too large for this service"))
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime_type, "data": in_base64(media)}}


# Plain texts, as a server refuses seldom: to compile them would cost every start.
_TOO_MUCH = r"max_tokens: \d{1,9} > (\d{1,9})\b"
_ABOUT_MEDIA = r"image|document|pdf|media_type|multimodal|vision"
_ABOUT_FORM = r"output_config|output_format|json_schema|tool_choice|structured output|schema"


def learned(dialect: Dialect, request: ModelRequest, refusal: str) -> Dialect | None:
    """The dialect to try next, when a server has refused the request in these words; None if that would not help."""
    words = refusal.lower()
    limit = re.search(_TOO_MUCH, words)
    if limit and 0 < int(limit[1]) < dialect.most_output:
        return replace(dialect, most_output=int(limit[1]))
    if dialect.caching and "cache_control" in words:
        return replace(dialect, caching=False)
    if request.answer_schema is not None and len(dialect.forms) > 1 and re.search(_ABOUT_FORM, words):
        return replace(dialect, forms=dialect.forms[1:])
    if dialect.thinking is Thinking.SHOWN and "display" in words:
        return replace(dialect, thinking=Thinking.HIDDEN)
    if request.temperature is not None and dialect.temperature and "temperature" in words:
        return replace(dialect, temperature=False)
    if dialect.thinking is not Thinking.NONE and re.search(r"\bthinking\b|\badaptive\b", words):
        return replace(dialect, thinking=Thinking.NONE)
    has_media = any(isinstance(part, InlineData | FileData) for message in request.messages for part in message.parts)
    if dialect.media and has_media and re.search(_ABOUT_MEDIA, words):
        return replace(dialect, media=False)
    return None


def is_about_old_thoughts(refusal: str) -> bool:
    """Whether a server has refused thoughts that were given back to it: the conversation before them has changed."""
    words = refusal.lower()
    return "thinking" in words and bool(re.search(r"signature|\bblocks?\b|cannot be modified", words))

"""Requests in a form that can be stored and compared, and diffs of them."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast
from weakref import WeakKeyDictionary

from tejat.core.frozen import Frozen
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import message_part_to_json
from tejat.core.messages.types import FunctionResponse, InlineData, JsonObject, JsonValue, MessagePart
from tejat.core.model import MAIN_LANE, ModelRequest
from tejat.workspace.text.diff import create_patch

Substitute: TypeAlias = Callable[[JsonValue], JsonValue]

_PROCESS_IDS = re.compile(r"^(Background PIDs|Process Group PGID): [\d, ]+$", re.MULTILINE)
_ACTIVATED_SKILL = re.compile(r'<activated_skill name="([^"]+)">')
_SHORT_DIGEST = 16
_PATCH_HEADER = 4
_MAX_LINES = 80
_MAX_CHARACTERS = 300
_CONTEXT_LINES = 3


class NormalizedRequest(Frozen):
    """A request for comparison. `request` refers to the system prompt and the messages by digest; `pieces` has them."""

    request: JsonObject
    pieces: Mapping[str, JsonValue]
    digest: str

    @property
    def lane(self) -> str:
        """The conversation that it belongs to. Recordings without sub-agents do not name it."""
        return str(self.request.get("lane", MAIN_LANE))

    @property
    def purpose(self) -> str:
        return str(self.request["purpose"])

    @property
    def messages(self) -> list[JsonObject]:
        return [cast("JsonObject", self.pieces[digest]) for digest in cast("list[str]", self.request["messages"])]


class RequestNormalizer:
    """Normalizes requests; each message is processed once.

    `substitute` removes what must not be stored or differs between machines.
    """

    def __init__(self, hide: Substitute) -> None:
        self._substitute = hide
        self._messages: WeakKeyDictionary[Message, tuple[str, JsonValue]] = WeakKeyDictionary()

    def normalize(self, request: ModelRequest) -> NormalizedRequest:
        system = self._substitute(request.system)
        messages = [self._normalize_message(message) for message in request.messages]
        pieces = dict([(_short_digest(system), system), *messages])
        normalized: JsonObject = {
            "purpose": request.purpose,
            "system": _short_digest(system),
            "tools": [[tool.name, _short_digest(self._substitute(tool.to_json()))] for tool in request.tools],
            "messages": [digest for digest, _ in messages],
            "answer_schema": self._substitute(request.response_schema),
            "abilities": sorted(request.capabilities),
            "most_output_tokens": request.max_output_tokens,
            "temperature": request.temperature,
        }
        if request.lane != MAIN_LANE:
            normalized = {**normalized, "lane": self._substitute(request.lane)}
        return NormalizedRequest(normalized, pieces, json_digest(normalized))

    def _normalize_message(self, message: Message) -> tuple[str, JsonValue]:
        known = self._messages.get(message)
        if known is None:
            value = self._substitute(
                {"role": message.role.value, "parts": [_normalize_part(part) for part in message.parts]}
            )
            known = self._messages[message] = _short_digest(value), value
        return known


def _normalize_part(part: MessagePart) -> JsonObject:
    """Return a part without process ids, which differ in every run, and with digests of media."""
    match part:
        case InlineData(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "sha256": hashlib.sha256(data).hexdigest()}}
        case FunctionResponse(name, {"output": str(output), **others}, call_id):
            steady = _PROCESS_IDS.sub(r"\1: (some)", output)
            return message_part_to_json(FunctionResponse(name, {"output": steady, **others}, call_id))
        case _:
            return message_part_to_json(part)


def json_digest(value: JsonValue) -> str:
    """Return a digest that does not depend on the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _short_digest(value: JsonValue) -> str:
    return json_digest(value)[:_SHORT_DIGEST]


def verify_pieces(pieces: JsonObject) -> None:
    """Raise ValueError for pieces that do not match their digests."""
    for digest, piece in pieces.items():
        if _short_digest(piece) != digest:
            raise ValueError("A piece was changed since it was recorded.")
        if not isinstance(piece, str):
            message = JsonFields(piece)
            message.string("role")
            for part in message.items("parts"):
                JsonFields(part)


def normalized_request_from_json(
    request: JsonObject, pieces: Mapping[str, JsonValue], *, digest: str
) -> NormalizedRequest:
    """Load a stored request; `pieces` are all pieces stored so far. Raises ValueError."""
    if json_digest(request) != digest:
        raise ValueError("The request was changed since it was recorded.")
    fields = JsonFields(request)
    fields.string("purpose")
    fields.string_or_none("lane")
    for tool in fields.items("tools"):
        if not (isinstance(tool, list) and len(tool) == 2 and all(isinstance(word, str) for word in tool)):
            raise ValueError("A tool has no name or no digest.")
    system, messages = fields.string("system"), fields.strings("messages")
    if not isinstance(pieces.get(system), str) or not all(isinstance(pieces.get(name), dict) for name in messages):
        raise ValueError("The system prompt or a message is missing.")
    return NormalizedRequest(request, {name: pieces[name] for name in (system, *messages)}, digest)


def changed_skill(recorded: NormalizedRequest, now: NormalizedRequest) -> str:
    """Return the name of the skill whose body is another one than in the recording, empty if that is not the reason."""
    for old, new in zip(recorded.messages, now.messages, strict=False):
        if old == new:
            continue
        before, after = (dict(_activated_skills(message)) for message in (old, new))
        return next((name for name, body in after.items() if before.get(name, body) != body), "")
    return ""


def _activated_skills(message: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the names and bodies of the skills that a message brings."""
    for part in cast("list[JsonObject]", message["parts"]):
        match part:
            case {"functionResponse": {"name": "activate_skill", "response": {"output": str(output)}}}:
                if found := _ACTIVATED_SKILL.search(output):
                    yield found[1], output
            case _:
                pass


def diff_requests(recorded: NormalizedRequest, now: NormalizedRequest) -> str:
    """Return a diff from the first request to the second, of bounded size."""
    old, new = list(_format_request(recorded)), list(_format_request(now))
    patch = create_patch("request", _join_lines(old), _join_lines(new), old_header="recorded", new_header="now")
    lines = patch.text.splitlines()[_PATCH_HEADER:]
    if patch.is_summary:
        lines += _first_difference(old, new)
    shown = [line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]} [...]" for line in lines]
    if len(shown) > _MAX_LINES:
        shown[_MAX_LINES:] = [f"[{len(shown) - _MAX_LINES} more lines]"]
    return "\n".join(["--- recorded", "+++ now", *shown])


def _join_lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _first_difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    pairs = enumerate(zip(old, new, strict=False))
    at = next((at for at, (left, right) in pairs if left != right), min(len(old), len(new)))
    return [
        *(f" {line}" for line in old[max(0, at - _CONTEXT_LINES) : at]),
        *(f"-{line}" for line in old[at : at + _CONTEXT_LINES]),
        *(f"+{line}" for line in new[at : at + _CONTEXT_LINES]),
    ]


def _format_request(request: NormalizedRequest) -> Iterator[str]:
    """Yield the lines of a readable form of the request."""
    fields = request.request
    if request.lane != MAIN_LANE:
        yield f"lane: {request.lane}"
    for key in ("purpose", "answer_schema", "abilities", "most_output_tokens", "temperature"):
        yield f"{key}: {dump_json(fields.get(key))}"
    for name, digest in cast("list[tuple[str, str]]", fields["tools"]):
        yield f"tool {name}, declared as {digest}"
    yield "system prompt:"
    yield from _indent(cast("str", request.pieces[cast("str", fields["system"])]))
    for number, message in enumerate(request.messages, 1):
        yield f"message {number}, of the {message['role']}:"
        for part in cast("list[JsonObject]", message["parts"]):
            yield from _format_part(part)


def _format_part(part: JsonObject) -> Iterator[str]:
    match part:
        case {"text": str(text)}:
            yield f"  {'thought' if 'thought' in part else 'text'}:"
            yield from _indent(text)
        case {"functionCall": {"name": name, "args": args}}:
            yield f"  call of {name}: {dump_json(args)}"
        case {"functionResponse": {"name": name, "response": Mapping() as response}}:
            yield f"  response of {name}:"
            for key, value in response.items():
                yield f"    {key}:"
                yield from _indent(value if isinstance(value, str) else dump_json(value))
        case _:
            yield f"  {dump_json(part)}"


def _indent(text: str) -> Iterator[str]:
    return (f"      {line}" for line in text.splitlines())

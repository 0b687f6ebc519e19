"""Decoding of responses of the Gemini API."""

import base64
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.frozen import replace
from tejat.core.i18n import lazy, map_lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FileData, FunctionCall, InlineData, JsonObject, MessagePart, Opaque, Text, Thought
from tejat.core.model import (
    Chunk,
    Citation,
    FailureKind,
    FinishReason,
    Grounding,
    GroundingSource,
    ModelFailure,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.gemini.request import NAME_PATTERN, VENDOR
from tejat.models.wire.common import UNNAMED_CALL, tool_names_by_wire_name
from tejat.models.wire.http_errors import protocol_failure
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str
from tejat.models.wire.part_assembler import PartAssembler
from tejat.models.wire.redact import safe_text

_FINISH_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.MAX_TOKENS,
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), FinishReason.BLOCKED),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), FinishReason.BLOCKED),
    "MODEL_ARMOR": FinishReason.BLOCKED,
    "MALFORMED_FUNCTION_CALL": FinishReason.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": FinishReason.MALFORMED_CALL,
    "MALFORMED_RESPONSE": FinishReason.MALFORMED_CALL,
}
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_USAGE_FIELDS = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
)


class GeminiResponseReader:
    """Reads one response to a request with these tools. Only the end of the stream ends the response."""

    is_done = False
    is_complete = False

    def __init__(self, secrets: Sequence[str] = (), tools: tuple[FunctionDeclaration, ...] = ()) -> None:
        self._secrets = secrets
        self._names = tool_names_by_wire_name(tools, NAME_PATTERN)
        self._parts = PartAssembler()
        self._reason: FinishReason | None = None
        self._detail = ""
        self._last_usage: Mapping[str, object] = {}
        self._model = ""
        self._grounding = Grounding()

    def feed(self, data: str | bytes) -> list[Chunk]:
        """Return the deltas of one chunk. Raises ModelFailure for an error and for invalid data."""
        if not data.strip():
            return []
        try:
            chunk = load_json(data)
        except InvalidJson as error:
            raise protocol_failure(str(error)) from None
        deltas: list[Chunk] = []
        self._read(chunk, deltas)
        return deltas

    def end(self) -> list[Chunk]:
        return [self.response()]

    def _read(self, chunk: object, deltas: list[Chunk]) -> None:
        """Add the deltas of a parsed chunk, or of a list of chunks."""
        if isinstance(chunk, list):
            for inner in cast("list[object]", chunk):
                self._read(inner, deltas)
            return
        fields = _require_object(chunk, "a chunk")
        if "error" in fields:
            from tejat.models.gemini.errors import parse_api_error

            raise parse_api_error(fields, secrets=self._secrets)
        usage = as_object(fields.get("usageMetadata"))
        if usage:
            self._last_usage = usage
        self._model = as_str(fields.get("modelVersion")) or self._model
        if feedback := fields.get("promptFeedback"):
            self._read_prompt_feedback(_require_object(feedback, "promptFeedback"))
        for candidate in _require_list(fields.get("candidates"), "candidates")[:1]:
            self._read_candidate(_require_item(candidate, "candidates"), deltas)

    def response(self) -> ModelResponse:
        """Return the response at the end of the stream. Raises ModelFailure if it is incomplete."""
        message = Message(Role.MODEL, self._parts.parts())
        # Calls come in one piece, so those that have come are whole, even if the service gives no reason for the end.
        finish = FinishReason.STOP if self._reason is None and message.calls else self._reason
        if finish is None:
            reason = lazy("The response was cut off.")
            raise ModelFailure(reason, FailureKind.STREAM_CUT, can_retry=True)
        grounding = None if self._grounding == Grounding() else self._grounding
        usage = Usage(*(as_count(self._last_usage.get(name)) for name in _USAGE_FIELDS))
        return ModelResponse(message, finish, usage, self._detail, self._model, grounding)

    def _read_prompt_feedback(self, feedback: JsonObject) -> None:
        reason = as_str(feedback.get("blockReason"))
        if reason:
            text = as_str(feedback.get("blockReasonMessage"))
            self._reason = FinishReason.BLOCKED
            message = lazy("The service blocked the prompt ({reason}). {said}", reason=reason, said=text)
            self._detail = map_lazy(message, safe_text)

    def _read_candidate(self, candidate: JsonObject, deltas: list[Chunk]) -> None:
        content = _require_object(candidate.get("content") or {}, "content")
        for item in _require_list(content.get("parts"), "parts"):
            part = _require_item(item, "parts")
            text = part.get("text")
            # Most of an answer consists of such parts.
            if len(part) == 1 and isinstance(text, str):
                self._parts.add_piece(Text, text)
                if text:
                    deltas.append(TextDelta(text))
            elif "functionResponse" not in part:
                # A response of the service to a call would make every further request illegal.
                self._add_part(self._read_part(part), deltas)
        if "groundingMetadata" in candidate or "urlContextMetadata" in candidate:
            self._read_grounding(candidate)
        reason = as_str(candidate.get("finishReason"))
        if reason and reason != _UNSPECIFIED and self._reason is not FinishReason.BLOCKED:
            self._reason = _FINISH_REASONS.get(reason, FinishReason.OTHER)
            text = as_str(candidate.get("finishMessage"))
            self._detail = "" if reason == "STOP" else safe_text(f"({reason}) {text}")

    def _read_part(self, given: JsonObject) -> MessagePart:
        part = _read_part(given)
        return replace(part, name=self._names.get(part.name, part.name)) if isinstance(part, FunctionCall) else part

    def _add_part(self, part: MessagePart, deltas: list[Chunk]) -> None:
        self._parts.add(part)
        if isinstance(part, Text) and part.text:
            deltas.append(TextDelta(part.text))
        elif isinstance(part, Thought) and part.text:
            deltas.append(ThoughtDelta(part.text))

    def _read_grounding(self, candidate: JsonObject) -> None:
        metadata = as_object(candidate.get("groundingMetadata"))
        sources = tuple(map(_read_source, as_list(metadata.get("groundingChunks"))))
        citations = tuple(map(_read_citation, as_list(metadata.get("groundingSupports"))))
        pages = map(as_object, as_list(as_object(candidate.get("urlContextMetadata")).get("urlMetadata")))
        fetched = {as_str(page.get("retrievedUrl")): as_str(page.get("urlRetrievalStatus")) for page in pages}
        before = self._grounding
        self._grounding = Grounding(
            sources or before.sources, citations or before.citations, {**before.fetched_urls, **fetched}
        )


def _read_part(part: JsonObject) -> MessagePart:
    signature = as_str(part.get("thoughtSignature")) or None
    is_thought = part.get("thought") is True
    if "text" in part:
        text = part["text"]
        if not isinstance(text, str):
            raise protocol_failure(lazy("text that is not a string"))
        return Thought(text, signature) if is_thought else Text(text, signature)
    if "functionCall" in part:
        return _read_call(part["functionCall"], signature)
    # A part with a signature that has no place for it is preserved as it is.
    if signature is None and not is_thought:
        if "inlineData" in part:
            return _read_media(_require_object(part["inlineData"], "inlineData"))
        if "fileData" in part:
            file = _require_object(part["fileData"], "fileData")
            return FileData(as_str(file.get("mimeType")), as_str(file.get("fileUri")))
    if set(part) == {"thoughtSignature"}:
        return Text("", signature)
    return Opaque(VENDOR, part)


def _read_call(value: object, signature: str | None) -> FunctionCall:
    """Read a call. A malformed one stays a call, so that running it tells the model what is wrong."""
    if not isinstance(value, Mapping):
        return FunctionCall(UNNAMED_CALL, {"functionCall": value}, signature=signature)
    call = cast("JsonObject", value)
    args = call.get("args")
    given = {} if args is None else args if isinstance(args, Mapping) else {"args": args}
    return FunctionCall(as_str(call.get("name")) or UNNAMED_CALL, given, as_str(call.get("id")) or None, signature)


def _read_media(media: JsonObject) -> InlineData:
    try:
        # Both base64 alphabets are in use.
        encoded = as_str(media.get("data")).replace("-", "+").replace("_", "/")
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        raise protocol_failure(lazy("media that is not base64")) from None
    return InlineData(as_str(media.get("mimeType")), data)


def _read_source(value: object) -> GroundingSource:
    """Read the page of a grounding chunk, which is under `web` or a similar key."""
    page = as_object(next(iter(as_object(value).values()), None))
    return GroundingSource(as_str(page.get("title")) or None, as_str(page.get("uri")) or None)


def _read_citation(value: object) -> Citation:
    support = as_object(value)
    indices = as_list(support.get("groundingChunkIndices"))
    return Citation(
        as_count(as_object(support.get("segment")).get("endIndex")),
        tuple(index for index in indices if isinstance(index, int) and index >= 0),
    )


def _require_object(value: object, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise protocol_failure(lazy("{what} is not an object", what=what))
    return cast("JsonObject", value)


def _require_item(value: object, what: str) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else _require_object(value, _item_of(what))


def _item_of(what: str) -> str:
    return lazy("an item of {what}", what=what)


def _require_list(value: object, what: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise protocol_failure(lazy("{what} is not a list", what=what))
    return cast("list[object]", value)

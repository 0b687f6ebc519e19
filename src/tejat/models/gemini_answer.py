"""An answer on the Gemini wire, put together from the chunks that it comes in. Pure."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tejat.core.history import Message, Role
from tejat.core.json_text import NotJson, load_json
from tejat.core.model import (
    NO_USAGE,
    Answer,
    Citation,
    FailureKind,
    FinishReason,
    Grounding,
    ModelFailure,
    Source,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FileData, FunctionCall, InlineData, JsonObject, MessagePart, Opaque, Text, Thought
from tejat.core.value import replace
from tejat.core.words import changed, phrase
from tejat.models.failures import protocol_failure
from tejat.models.gemini_refusal import refusal
from tejat.models.gemini_wire import NAMES, VENDOR
from tejat.models.json_shapes import count_of, items_of, object_of, text_of
from tejat.models.portable import UNNAMED_CALL, names_by_wire
from tejat.models.redact import safe_text

_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.MAX_TOKENS,
    "SAFETY": FinishReason.BLOCKED,
    "RECITATION": FinishReason.BLOCKED,
    "BLOCKLIST": FinishReason.BLOCKED,
    "PROHIBITED_CONTENT": FinishReason.BLOCKED,
    "SPII": FinishReason.BLOCKED,
    "IMAGE_SAFETY": FinishReason.BLOCKED,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.BLOCKED,
    "IMAGE_RECITATION": FinishReason.BLOCKED,
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


class AnswerReader:
    """Reads one answer to a request with these tools."""

    def __init__(self, secrets: Sequence[str] = (), tools: tuple[FunctionDeclaration, ...] = ()) -> None:
        self._secrets = secrets
        self._names = names_by_wire(tools, NAMES)
        self._parts: list[MessagePart] = []
        self._reason: FinishReason | None = None
        self._detail = ""
        self._usage = NO_USAGE
        self._model = ""
        self._grounding = Grounding()

    def read(self, text: str | bytes) -> Iterator[TextDelta | ThoughtDelta]:
        """What one chunk has to show. Raises ModelFailure for one that is an error, or no chunk at all."""
        try:
            chunk = load_json(text)
        except NotJson as error:
            raise protocol_failure(str(error)) from None
        return self.read_value(chunk)

    def read_last(self, text: str) -> Iterator[TextDelta | ThoughtDelta]:
        """The same for what stood at the end of the stream and may be half a chunk. Raises ModelFailure for one."""
        try:
            chunk = load_json(text)
        except NotJson:
            raise _cut() from None
        return self.read_value(chunk)

    def read_value(self, chunk: object) -> Iterator[TextDelta | ThoughtDelta]:
        """The same for a chunk that was parsed already. A list is so many chunks."""
        if isinstance(chunk, list):
            for inner in cast("list[object]", chunk):
                yield from self.read_value(inner)
            return
        fields = _object(chunk, "a chunk")
        if "error" in fields:
            raise refusal(fields, secrets=self._secrets)
        usage = object_of(fields.get("usageMetadata"))
        if usage:
            self._usage = Usage(*(count_of(usage.get(name)) for name in _USAGE_FIELDS))
        self._model = text_of(fields.get("modelVersion")) or self._model
        self._note_block(_object(fields.get("promptFeedback") or {}, "promptFeedback"))
        for candidate in _objects(fields.get("candidates"), "candidates")[:1]:
            yield from self._read_candidate(candidate)

    def answer(self) -> Answer:
        """The whole answer once the stream is over. Raises ModelFailure if it was not whole."""
        if self._reason is None:
            raise _cut()
        message = Message(Role.MODEL, tuple(self._parts))
        grounding = None if self._grounding == Grounding() else self._grounding
        return Answer(message, self._reason, self._usage, self._detail, self._model, grounding)

    def _note_block(self, feedback: JsonObject) -> None:
        reason = text_of(feedback.get("blockReason"))
        if reason:
            said = text_of(feedback.get("blockReasonMessage"))
            self._reason = FinishReason.BLOCKED
            self._detail = changed(
                phrase("The prompt was refused ({reason}). {said}", reason=reason, said=said), safe_text
            )

    def _read_candidate(self, candidate: JsonObject) -> Iterator[TextDelta | ThoughtDelta]:
        content = _object(candidate.get("content") or {}, "content")
        for part in _objects(content.get("parts"), "parts"):
            # Only those who run calls answer them: sent back, it would make every further request illegal.
            if "functionResponse" not in part:
                yield from self._add(self._under_own_name(_read_part(part)))
        self._note_grounding(candidate)
        reason = text_of(candidate.get("finishReason"))
        if reason and reason != _UNSPECIFIED and self._reason is not FinishReason.BLOCKED:
            self._reason = _REASONS.get(reason, FinishReason.OTHER)
            said = text_of(candidate.get("finishMessage"))
            self._detail = "" if reason == "STOP" else safe_text(f"({reason}) {said}")

    def _under_own_name(self, part: MessagePart) -> MessagePart:
        if not isinstance(part, FunctionCall):
            return part
        return replace(part, name=self._names.get(part.name, part.name))

    def _add(self, part: MessagePart) -> Iterator[TextDelta | ThoughtDelta]:
        last = self._parts[-1] if self._parts else None
        # A signature belongs to its own piece of the text.
        if isinstance(part, Text) and isinstance(last, Text) and part.signature is None is last.signature:
            self._parts[-1] = Text(last.text + part.text)
        elif isinstance(part, Thought) and isinstance(last, Thought) and part.signature is None is last.signature:
            self._parts[-1] = Thought(last.text + part.text)
        elif part != Text("") and part != Thought(""):
            self._parts.append(part)
        if isinstance(part, Text) and part.text:
            yield TextDelta(part.text)
        elif isinstance(part, Thought) and part.text:
            yield ThoughtDelta(part.text)

    def _note_grounding(self, candidate: JsonObject) -> None:
        metadata = object_of(candidate.get("groundingMetadata"))
        sources = tuple(map(_source, items_of(metadata.get("groundingChunks"))))
        citations = tuple(map(_citation, items_of(metadata.get("groundingSupports"))))
        pages = map(object_of, items_of(object_of(candidate.get("urlContextMetadata")).get("urlMetadata")))
        fetched = {text_of(page.get("retrievedUrl")): text_of(page.get("urlRetrievalStatus")) for page in pages}
        before = self._grounding
        self._grounding = Grounding(
            sources or before.sources, citations or before.citations, {**before.fetched, **fetched}
        )


def _cut() -> ModelFailure:
    return ModelFailure(phrase("The stream ended in the middle of the answer."), FailureKind.STREAM_CUT, can_retry=True)


def _read_part(part: JsonObject) -> MessagePart:
    signature = text_of(part.get("thoughtSignature")) or None
    is_thought = part.get("thought") is True
    if "text" in part:
        text = part["text"]
        if not isinstance(text, str):
            raise protocol_failure(phrase("a text that is none"))
        return Thought(text, signature) if is_thought else Text(text, signature)
    if "functionCall" in part:
        return _read_call(part["functionCall"], signature)
    # What has no place for a signature is kept as it is together with it.
    if signature is None and not is_thought:
        if "inlineData" in part:
            return _read_media(_object(part["inlineData"], "inlineData"))
        if "fileData" in part:
            file = _object(part["fileData"], "fileData")
            return FileData(text_of(file.get("mimeType")), text_of(file.get("fileUri")))
    if set(part) == {"thoughtSignature"}:
        return Text("", signature)
    return Opaque(VENDOR, part)


def _read_call(value: object, signature: str | None) -> FunctionCall:
    """A call that is not as it should be stays a call: whoever runs it tells the model what is wrong."""
    if not isinstance(value, Mapping):
        return FunctionCall(UNNAMED_CALL, {"functionCall": value}, signature=signature)
    call = cast("JsonObject", value)
    args = call.get("args")
    given = {} if args is None else args if isinstance(args, Mapping) else {"args": args}
    return FunctionCall(text_of(call.get("name")) or UNNAMED_CALL, given, text_of(call.get("id")) or None, signature)


def _read_media(media: JsonObject) -> InlineData:
    try:
        # Both alphabets of base64 are in use.
        encoded = text_of(media.get("data")).replace("-", "+").replace("_", "/")
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise protocol_failure(phrase("media that are not base64")) from None
    return InlineData(text_of(media.get("mimeType")), data)


def _source(value: object) -> Source:
    """The page behind one chunk, which is under `web` or a key of its kind."""
    page = object_of(next(iter(object_of(value).values()), None))
    return Source(text_of(page.get("title")) or None, text_of(page.get("uri")) or None)


def _citation(value: object) -> Citation:
    support = object_of(value)
    indices = items_of(support.get("groundingChunkIndices"))
    return Citation(
        count_of(object_of(support.get("segment")).get("endIndex")),
        tuple(index for index in indices if isinstance(index, int) and index >= 0),
    )


def _object(value: object, what: str) -> JsonObject:
    if not isinstance(value, Mapping):
        raise protocol_failure(phrase("{what} is not an object", what=what))
    return cast("JsonObject", value)


def _objects(value: object, what: str) -> list[JsonObject]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise protocol_failure(phrase("{what} is not a list", what=what))
    return [_object(item, phrase("one of {what}", what=what)) for item in cast("list[object]", value)]

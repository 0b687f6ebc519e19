"""The answers of models as JSON and back, so that they can come again exactly as they came."""

from typing import assert_never

from tejat.core.json_fields import Fields
from tejat.core.message_json import message_from_json, message_to_json, usage_from_json, usage_to_json
from tejat.core.model import (
    Answer,
    Chunk,
    Citation,
    FailureKind,
    FinishReason,
    Grounding,
    ModelFailure,
    Retry,
    Source,
    TextDelta,
    ThoughtDelta,
)
from tejat.core.types import JsonObject, JsonValue


def chunk_to_json(chunk: Chunk) -> JsonObject:
    match chunk:
        case TextDelta(text):
            return {"text": text}
        case ThoughtDelta(text):
            return {"thought": text}
        case Retry(kind, reason, attempt, most, wait):
            told: JsonObject = {
                "kind": kind.value,
                "reason": reason,
                "attempt": attempt,
                "most": most,
                "wait": wait,
            }
            return {"retry": told}
        case Answer():
            return {"answer": _answer_to_json(chunk)}
        case _:
            assert_never(chunk)


def _answer_to_json(answer: Answer) -> JsonObject:
    known: dict[str, JsonValue] = {
        "message": message_to_json(answer.message),
        "reason": answer.reason.value,
        "usage": usage_to_json(answer.usage),
        "detail": answer.detail,
        "model": answer.model,
    }
    if answer.grounding is not None:
        known["grounding"] = _grounding_to_json(answer.grounding)
    return known


def _grounding_to_json(grounding: Grounding) -> JsonObject:
    return {
        "sources": [{"title": source.title, "uri": source.uri} for source in grounding.sources],
        "citations": [{"end": citation.end, "sources": list(citation.sources)} for citation in grounding.citations],
        "fetched": dict(grounding.fetched),
    }


def chunk_from_json(value: object) -> Chunk:
    """Raises ValueError for what `chunk_to_json` did not make."""
    fields = Fields(value)
    if fields.has("text"):
        return TextDelta(fields.text("text"))
    if fields.has("thought"):
        return ThoughtDelta(fields.text("thought"))
    if fields.has("retry"):
        retry = fields.inner("retry")
        return Retry(
            FailureKind(retry.text("kind")),
            retry.text("reason"),
            retry.whole_number("attempt"),
            retry.whole_number("most"),
            retry.number("wait"),
        )
    return _answer_from_json(fields.inner("answer"))


def _answer_from_json(fields: Fields) -> Answer:
    return Answer(
        message_from_json(fields.object("message")),
        FinishReason(fields.text("reason")),
        usage_from_json(fields.object("usage")),
        fields.text("detail"),
        fields.text("model"),
        _grounding_from_json(fields.inner("grounding")) if fields.has("grounding") else None,
    )


def _grounding_from_json(fields: Fields) -> Grounding:
    sources = [Fields(source) for source in fields.items("sources")]
    citations = [Fields(citation) for citation in fields.items("citations")]
    fetched = fields.inner("fetched")
    return Grounding(
        tuple(Source(source.text_or_none("title"), source.text_or_none("uri")) for source in sources),
        tuple(Citation(citation.whole_number("end"), citation.whole_numbers("sources")) for citation in citations),
        {address: fetched.text(address) for address in fields.object("fetched")},
    )


def failure_to_json(failure: ModelFailure) -> JsonObject:
    return {
        "message": failure.message,
        "kind": failure.kind.value,
        "status": failure.status,
        "retry_after": failure.retry_after,
        "can_retry": failure.can_retry,
    }


def failure_from_json(value: object) -> ModelFailure:
    """Raises ValueError."""
    fields = Fields(value)
    return ModelFailure(
        fields.text("message"),
        FailureKind(fields.text("kind")),
        status=fields.whole_number_or_none("status"),
        retry_after=fields.number_or_none("retry_after"),
        can_retry=fields.switch("can_retry"),
    )

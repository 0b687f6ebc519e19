"""Responses and failures as JSON and back, without loss."""

from typing import assert_never

from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import message_from_json, message_to_json, usage_from_json, usage_to_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import (
    Chunk,
    Citation,
    ContextOverflow,
    Delayed,
    FailureKind,
    FinishReason,
    Grounding,
    GroundingSource,
    ModelFailure,
    ModelResponse,
    Retry,
    TextDelta,
    ThoughtDelta,
)


def chunk_to_json(chunk: Chunk) -> JsonObject:
    match chunk:
        case TextDelta(text):
            return {"text": text}
        case ThoughtDelta(text):
            return {"thought": text}
        case Retry(kind, reason, attempt, most, wait):
            retry: JsonObject = {"kind": kind.value, "reason": reason, "attempt": attempt, "most": most, "wait": wait}
            return {"retry": retry}
        case Delayed(reason, wait):
            return {"delayed": {"reason": reason, "wait": wait}}
        case ModelResponse():
            return {"answer": _response_to_json(chunk)}
        case _:
            assert_never(chunk)


def _response_to_json(answer: ModelResponse) -> JsonObject:
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
        "fetched": dict(grounding.fetched_urls),
    }


def chunk_from_json(value: object) -> Chunk:
    """Raises ValueError for invalid data."""
    fields = JsonFields(value)
    if fields.has("text"):
        return TextDelta(fields.string("text"))
    if fields.has("thought"):
        return ThoughtDelta(fields.string("thought"))
    if fields.has("delayed"):
        delayed = fields.nested("delayed")
        return Delayed(delayed.string("reason"), delayed.number("wait"))
    if fields.has("retry"):
        retry = fields.nested("retry")
        return Retry(
            FailureKind(retry.string("kind")),
            retry.string("reason"),
            retry.integer("attempt"),
            retry.integer("most"),
            retry.number("wait"),
        )
    return _response_from_json(fields.nested("answer"))


def _response_from_json(fields: JsonFields) -> ModelResponse:
    return ModelResponse(
        message_from_json(fields.object("message")),
        FinishReason(fields.string("reason")),
        usage_from_json(fields.object("usage")),
        fields.string("detail"),
        fields.string("model"),
        _grounding_from_json(fields.nested("grounding")) if fields.has("grounding") else None,
    )


def _grounding_from_json(fields: JsonFields) -> Grounding:
    sources = [JsonFields(source) for source in fields.items("sources")]
    citations = [JsonFields(citation) for citation in fields.items("citations")]
    fetched = fields.nested("fetched")
    return Grounding(
        tuple(GroundingSource(source.string_or_none("title"), source.string_or_none("uri")) for source in sources),
        tuple(Citation(citation.integer("end"), citation.integers("sources")) for citation in citations),
        {address: fetched.string(address) for address in fields.object("fetched")},
    )


def failure_to_json(failure: ModelFailure) -> JsonObject:
    return {
        "message": failure.message,
        "kind": failure.kind.value,
        "status": failure.status,
        "retry_after": failure.retry_after,
        "can_retry": failure.can_retry,
        "overflow": {"tokens": failure.overflow.tokens, "window": failure.overflow.window},
    }


def failure_from_json(value: object) -> ModelFailure:
    """Raises ValueError."""
    fields = JsonFields(value)
    return ModelFailure(
        fields.string("message"),
        FailureKind(fields.string("kind")),
        status=fields.integer_or_none("status"),
        retry_after=fields.number_or_none("retry_after"),
        can_retry=fields.boolean("can_retry"),
        overflow=_overflow_from_json(fields.nested("overflow")) if fields.has("overflow") else ContextOverflow(),
    )


def _overflow_from_json(fields: JsonFields) -> ContextOverflow:
    return ContextOverflow(fields.integer("tokens"), fields.integer("window"))

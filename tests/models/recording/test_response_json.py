"""Chunks and failures go to JSON and come back the same."""

import json

import pytest

from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall, Text, Thought
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
    Usage,
)
from tejat.models.recording.response_json import chunk_from_json, chunk_to_json, failure_from_json, failure_to_json


@pytest.mark.parametrize(
    "chunk",
    [
        TextDelta("Hé\ud83d llo"),
        ThoughtDelta(""),
        Retry(FailureKind.RATE_LIMITED, "429", 1, 5, 2.5),
        Retry(FailureKind.NETWORK, "cut", 2, 5, 0),
        Delayed("the rate limit", 1.5),
    ],
)
def test_pieces_of_an_answer(chunk: Chunk) -> None:
    assert chunk_from_json(json.loads(json.dumps(chunk_to_json(chunk)))) == chunk


@pytest.mark.parametrize(
    "grounding",
    [
        None,
        Grounding(),
        Grounding(
            (GroundingSource("Title", "https://a"), GroundingSource(None, None)),
            (Citation(7, (0, 1)),),
            {"https://a": "OK"},
        ),
    ],
)
def test_a_whole_answer(grounding: Grounding | None) -> None:
    message = model_message(Thought("Hm", "sig"), Text("So", "sig2"), FunctionCall("glob", {"a": [1]}, "id"))
    usage = Usage(1, 2, 3, 4, 5)
    answer = ModelResponse(message, FinishReason.OTHER, usage, "why", "gemini-x", grounding)
    back = chunk_from_json(json.loads(json.dumps(chunk_to_json(answer))))
    assert isinstance(back, ModelResponse)
    assert (back.message.role, back.message.parts) == (message.role, message.parts)
    assert (back.reason, back.usage, back.detail, back.model, back.grounding) == (
        FinishReason.OTHER,
        usage,
        "why",
        "gemini-x",
        grounding,
    )


@pytest.mark.parametrize(
    "failure",
    [
        ModelFailure("No.", FailureKind.BLOCKED),
        ModelFailure("Full.", FailureKind.CONTEXT_FULL, status=400, overflow=ContextOverflow(5031, 4096)),
        ModelFailure("Wait.", FailureKind.RATE_LIMITED, status=429, retry_after=1.5, can_retry=True),
    ],
)
def test_a_failure(failure: ModelFailure) -> None:
    back = failure_from_json(json.loads(json.dumps(failure_to_json(failure))))
    assert vars(back) == vars(failure)
    assert str(back) == str(failure)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"text": 3},
        {"retry": {}},
        {"retry": {"kind": "sad", "reason": "", "attempt": 1, "most": 1, "wait": 1}},
        {"answer": {}},
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        chunk_from_json(value)

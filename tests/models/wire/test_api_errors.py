"""Why services refuse."""

import json
from typing import Any

import pytest

from tejat.core.model import FailureKind, ModelFailure
from tejat.models.wire.api_errors import ModelTarget, parse_api_error

KEY = "secret-key-1234"
ASKED = ModelTarget("gpt-x", "OPENAI_API_KEY", KEY)


def failure_fields(failure: ModelFailure) -> tuple[FailureKind, int | None, float | None, bool]:
    return failure.kind, failure.status, failure.retry_after, failure.can_retry


def error_body(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "answer", "kind", "can_retry"),
    [
        (400, error_body("bad"), FailureKind.BAD_REQUEST, False),
        (401, error_body("bad key"), FailureKind.AUTHENTICATION, False),
        (402, error_body("pay"), FailureKind.RATE_LIMITED, False),
        (403, error_body("not you"), FailureKind.AUTHENTICATION, False),
        (404, error_body("no model"), FailureKind.BAD_REQUEST, False),
        (405, error_body("no"), FailureKind.BAD_REQUEST, False),
        (408, error_body("slow"), FailureKind.UNAVAILABLE, True),
        (413, error_body("large"), FailureKind.CONTEXT_FULL, False),
        (422, error_body("bad"), FailureKind.BAD_REQUEST, False),
        (429, error_body("slow down"), FailureKind.RATE_LIMITED, True),
        (429, error_body("pay", code="insufficient_quota"), FailureKind.RATE_LIMITED, False),
        (500, error_body("oops"), FailureKind.UNAVAILABLE, True),
        (502, "<html><h1>Bad Gateway</h1></html>", FailureKind.UNAVAILABLE, True),
        (503, error_body("the maximum context length is fine"), FailureKind.UNAVAILABLE, True),
        (529, error_body("Overloaded", type="overloaded_error"), FailureKind.UNAVAILABLE, True),
        (302, "", FailureKind.PROTOCOL, False),
        (204, "", FailureKind.PROTOCOL, False),
    ],
)
def test_by_status(status: int, answer: object, kind: FailureKind, can_retry: bool) -> None:
    failure = parse_api_error(answer, ASKED, status=status, retry_after=7.0)
    assert failure_fields(failure) == (kind, status, 7.0 if can_retry else None, can_retry)
    assert f"(HTTP {status})" in failure.message


@pytest.mark.parametrize(
    "answer",
    [
        error_body("x", code="context_length_exceeded"),
        error_body("x", type="exceed_context_size_error"),
        error_body("This model's maximum context length is 4097 tokens. However, you requested 5000 tokens"),
        error_body("the request exceeds the available context size. try increasing the context size"),
        error_body("prompt is too long: 210000 tokens > 200000 maximum"),
        error_body("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
        error_body("Input is too long for requested model."),
        error_body("too many tokens"),
        {"error": "the input exceeds the context window"},
        {"detail": "Context length exceeded"},
        {"object": "error", "message": "This model's maximum context length is 10 tokens.", "code": 400},
        [error_body("input is too long")],
    ],
)
def test_a_conversation_that_is_too_long(answer: object) -> None:
    assert parse_api_error(answer, ASKED, status=400).kind is FailureKind.CONTEXT_FULL


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error_body("what happened"), "what happened"),
        ({"error": "what happened"}, "what happened"),
        ({"message": "what happened"}, "what happened"),
        ({"detail": "what happened"}, "what happened"),
        ({"detail": [{"loc": ["body"], "msg": "what happened"}]}, "'msg': 'what happened'"),
        ({"error": {"detail": "what happened"}}, "what happened"),
        ([error_body("what happened")], "what happened"),
        ("what happened", "what happened"),
        ("<html><body><p>what happened</p></body></html>", "what happened"),
        ({}, "(HTTP 400)"),
        (None, "(HTTP 400)"),
        ([], "(HTTP 400)"),
        ({"error": {"message": None}}, "(HTTP 400)"),
    ],
)
def test_what_a_server_says_is_told(answer: object, words: str) -> None:
    failure = parse_api_error(answer, ASKED, status=400)
    assert words in failure.message
    assert "<" not in failure.message


def test_what_to_do() -> None:
    assert parse_api_error(error_body("no"), ASKED, status=401).message == (
        "The service rejected the API key. (HTTP 401) no Check OPENAI_API_KEY."
    )
    without = parse_api_error(error_body("no"), ModelTarget("m", "OPENAI_API_KEY"), status=401)
    assert without.message.endswith("It needs an API key: set OPENAI_API_KEY.")
    assert (
        "Check that this server has a model named gpt-x" in parse_api_error(error_body("no"), ASKED, status=404).message
    )


@pytest.mark.parametrize("status", [200, 301, 400, 401, 404, 413, 429, 500])
def test_messages_are_short_and_hold_no_key(status: int) -> None:
    hostile = f"\x1b[31mkey {KEY} Bearer abcdefghijkl {'long ' * 10_000} {KEY}"
    for answer in (error_body(hostile), hostile, {"detail": hostile}, {"error": hostile}):
        message = parse_api_error(answer, ASKED, status=status).message
        assert KEY not in message
        assert "abcdefghijkl" not in message
        assert message.isprintable()
        assert len(message) < 900


def test_a_key_is_not_printed() -> None:
    assert KEY not in repr(ASKED)


def test_an_error_in_the_message_of_an_error_is_what_is_told() -> None:
    failure = parse_api_error(error_body(json.dumps(error_body("pay", code="insufficient_quota"))), ASKED, status=429)
    assert (failure.kind, failure.can_retry) == (FailureKind.RATE_LIMITED, False)
    assert failure.message == "The account has no credit left. (HTTP 429) pay"


@pytest.mark.parametrize("message", ["{", "{}", '{"error": 1}', "[1]", 'Bad value: {"a": 1}', '{"message": ""}'])
def test_a_message_that_only_looks_like_an_error_is_told_as_it_is(message: str) -> None:
    assert message in parse_api_error(error_body(message), ASKED, status=400).message


def test_a_quota_of_zero_is_final() -> None:
    failure = parse_api_error([error_body("Quota exceeded for metric: m, limit: 0")], ASKED, status=429)
    assert (failure.kind, failure.can_retry) == (FailureKind.RATE_LIMITED, False)

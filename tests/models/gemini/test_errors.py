import json
from typing import Any

import pytest

from tejat.core.model import FailureKind, ModelFailure
from tejat.models.gemini.errors import parse_api_error


def error(code: int, message: str = "Words.", *details: object) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": "X", "details": list(details)}}


def facts(failure: ModelFailure) -> tuple[FailureKind, int | None, float | None, bool]:
    return failure.kind, failure.status, failure.retry_after, failure.can_retry


@pytest.mark.parametrize(
    ("status", "message", "kind", "can_retry"),
    [
        (400, "Invalid value at 'contents'", FailureKind.BAD_REQUEST, False),
        (400, "API key not valid. Please pass a valid API key.", FailureKind.AUTHENTICATION, False),
        (400, "API key expired. Please renew the API key.", FailureKind.AUTHENTICATION, False),
        (400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", "full", False),
        (400, "Request payload size exceeds the limit: 20971520 bytes.", "full", False),
        (413, "Too large", "full", False),
        (401, "Request had invalid authentication credentials.", FailureKind.AUTHENTICATION, False),
        (403, "The caller does not have permission", FailureKind.AUTHENTICATION, False),
        (404, "models/x is not found for API version v1beta", FailureKind.BAD_REQUEST, False),
        (408, "", FailureKind.UNAVAILABLE, True),
        (429, "Resource has been exhausted", FailureKind.RATE_LIMITED, True),
        (499, "The operation was cancelled.", FailureKind.UNAVAILABLE, True),
        (500, "An internal error has occurred.", FailureKind.UNAVAILABLE, True),
        (503, "The model is overloaded.", FailureKind.UNAVAILABLE, True),
        (504, "Deadline expired", FailureKind.UNAVAILABLE, True),
        (302, "", FailureKind.PROTOCOL, False),
    ],
)
def test_every_status_has_its_kind(status: int, message: str, kind: FailureKind | str, can_retry: bool) -> None:
    expected = FailureKind.CONTEXT_FULL if kind == "full" else kind
    failure = parse_api_error(error(status, message), status=status)
    assert facts(failure) == (expected, status, None, can_retry)
    assert f"(HTTP {status}) {message}".strip() in failure.message


def test_a_key_that_only_the_details_complain_about() -> None:
    details = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    assert parse_api_error(error(400, "Bad.", details), status=400).kind is FailureKind.AUTHENTICATION


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def test_how_long_to_wait() -> None:
    assert parse_api_error(error(429, "Slow down.", RETRY_INFO), status=429, retry_after=9.0).retry_after == 34.5
    assert parse_api_error(error(503, "Slow down.", RETRY_INFO), status=503).retry_after == 34.5
    assert parse_api_error(error(429, "Please retry in 12.25s."), status=429).retry_after == 12.25
    assert parse_api_error(error(429), status=429, retry_after=9.0).retry_after == 9.0
    assert (
        parse_api_error(error(429, "x", {"retryDelay": {"seconds": 3}}, {"retryDelay": "-3s"}), status=429).retry_after
        is None
    )


def quota(name: str, value: str = "50") -> dict[str, object]:
    violation = {"quotaMetric": "m", "quotaId": name, "quotaValue": value}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def test_which_quota_is_used_up_and_until_when() -> None:
    minute = parse_api_error(error(429, "Quota.", quota("GenerateRequestsPerMinute"), RETRY_INFO), status=429)
    assert facts(minute) == (FailureKind.RATE_LIMITED, 429, 34.5, True)
    assert minute.message == "Too many requests. Quota: GenerateRequestsPerMinute. (HTTP 429) Quota."
    day = parse_api_error(error(429, "Quota.", quota("GenerateRequestsPerDayPerProject"), RETRY_INFO), status=429)
    assert (day.kind, day.can_retry) == (FailureKind.RATE_LIMITED, False)
    assert "resets at midnight Pacific time. Quota: GenerateRequestsPerDayPerProject." in day.message
    none = parse_api_error(error(429, "Quota.", quota("FreeTierPerMinute", "0"), RETRY_INFO), status=429)
    assert (none.kind, none.can_retry) == (FailureKind.RATE_LIMITED, False)
    assert none.message.startswith("This API key has no quota for the model.")


def test_an_error_inside_of_a_stream_tells_its_own_status() -> None:
    assert facts(parse_api_error(error(503))) == (FailureKind.UNAVAILABLE, 503, None, True)
    assert facts(parse_api_error({"error": "odd"})) == (FailureKind.UNAVAILABLE, 500, None, True)
    assert facts(parse_api_error(error(503), status=200)) == (FailureKind.UNAVAILABLE, 503, None, True)


def test_a_list_with_one_error() -> None:
    assert facts(parse_api_error([error(429, "Slow.", RETRY_INFO)], status=429)) == (
        FailureKind.RATE_LIMITED,
        429,
        34.5,
        True,
    )


@pytest.mark.parametrize("answer", [None, 7, [], {}, {"error": []}, {"error": {"details": "x", "message": 7}}])
def test_an_answer_that_says_nothing(answer: object) -> None:
    failure = parse_api_error(answer, status=502)
    assert facts(failure) == (FailureKind.UNAVAILABLE, 502, None, True)
    assert failure.message == "The service is unavailable. (HTTP 502)"


def test_a_page_instead_of_an_error() -> None:
    body = "<html><style>x</style><h1>Bad\x1b Gateway</h1>" + "<p>" * 10_000
    failure = parse_api_error(body, status=502)
    assert failure.message == "The service is unavailable. (HTTP 502) x Bad<U+001B> Gateway"


def test_no_key_is_ever_shown() -> None:
    failure = parse_api_error(
        error(403, "Key hunter22 and AIzaSyA1234567890abcdefghijklmnop"), status=403, secrets=["hunter22"]
    )
    assert "hunter22" not in failure.message
    assert "AIza" not in failure.message


@pytest.mark.parametrize(
    "answer",
    [
        error(
            429,
            "You exceeded your current quota.\n* Quota exceeded for metric: m, limit: 0, model: x\nRetry.",
            RETRY_INFO,
        ),
        error(429, "No.", {"reason": "QUOTA_EXHAUSTED"}, RETRY_INFO),
        error(429, "No.", {"reason": "MODEL_CAPACITY_EXHAUSTED"}),
        error(503, "No.", {"reason": "MODEL_CAPACITY_EXHAUSTED"}),
        error(429, json.dumps(error(429, "No.", {"reason": "QUOTA_EXHAUSTED"}))),
    ],
)
def test_a_quota_that_waiting_does_not_renew_is_final(answer: dict[str, Any]) -> None:
    failure = parse_api_error(answer, status=answer["error"]["code"])
    assert (failure.kind, failure.can_retry, failure.retry_after) == (FailureKind.RATE_LIMITED, False, None)
    assert failure.message.startswith("No quota or capacity left for this model.")


@pytest.mark.parametrize("message", ["Quota exceeded, limit: 0.5", "Quota exceeded, limit: 05", "Quota, limit: 10"])
def test_a_limit_that_is_not_zero_can_be_waited_for(message: str) -> None:
    assert parse_api_error(error(429, message), status=429).can_retry


def test_an_error_in_the_message_of_an_error_is_what_is_told() -> None:
    inner = error(400, "The input token count (9) exceeds the maximum number of tokens allowed (8).")
    twice = error(400, json.dumps([error(400, f"got status: 400. {json.dumps(inner)}")]))
    failure = parse_api_error(twice, status=400)
    assert failure.kind is FailureKind.CONTEXT_FULL
    text = "(HTTP 400) The input token count (9) exceeds the maximum number of tokens allowed (8)."
    assert failure.message == f"The conversation is too long. {text}"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "The input token count (9000) exceeds the maximum number of tokens allowed (8000)."),
        (400, "Request payload size exceeds the limit: 20971520 bytes."),
        (400, "prompt is too long: 9000 tokens > 8000 maximum"),
        (400, "This model's maximum context length is 8000 tokens."),
        (500, "Your input context is too long. Reduce it."),
        (413, "no"),
    ],
)
def test_a_full_context_is_recognised_as_with_other_services(status: int, message: str) -> None:
    failure = parse_api_error(error(status, message), status=status)
    assert (failure.kind, failure.can_retry) == (FailureKind.CONTEXT_FULL, False)
    assert failure.overflow.window in (0, 8000)

import pytest

from tejat.core.model import FailureKind
from tejat.models.wire.http_errors import failure_from_http, is_retryable_status, parse_retry_after, protocol_failure
from tejat.workspace.http.types import Headers, HttpFailure, HttpFailureKind

NOON = 1_790_000_000.0  # Mon, 21 Sep 2026 14:13:20 GMT


def test_every_problem_has_its_kind() -> None:
    told = {problem: failure_from_http(HttpFailure("words", problem)) for problem in HttpFailureKind}
    assert {failure.message for failure in told.values()} == {"words"}
    assert {problem: (failure.kind, failure.can_retry) for problem, failure in told.items()} == {
        HttpFailureKind.BAD_URL: (FailureKind.BAD_REQUEST, False),
        HttpFailureKind.BAD_HEADER: (FailureKind.BAD_REQUEST, False),
        HttpFailureKind.DNS: (FailureKind.NETWORK, True),
        HttpFailureKind.CONNECT: (FailureKind.NETWORK, True),
        HttpFailureKind.PROXY: (FailureKind.NETWORK, False),
        HttpFailureKind.TLS: (FailureKind.NETWORK, False),
        HttpFailureKind.TIMED_OUT_CONNECT: (FailureKind.TIMED_OUT, True),
        HttpFailureKind.TIMED_OUT_FIRST_BYTE: (FailureKind.TIMED_OUT, True),
        HttpFailureKind.TIMED_OUT_IDLE: (FailureKind.TIMED_OUT, True),
        HttpFailureKind.TIMED_OUT_TOTAL: (FailureKind.TIMED_OUT, False),
        HttpFailureKind.DISCONNECTED: (FailureKind.STREAM_CUT, True),
        HttpFailureKind.PROTOCOL: (FailureKind.PROTOCOL, False),
        HttpFailureKind.TOO_LARGE: (FailureKind.PROTOCOL, False),
    }


def test_something_that_is_no_answer() -> None:
    failure = protocol_failure("a page")
    assert (failure.kind, failure.can_retry) == (FailureKind.PROTOCOL, False)
    assert failure.message.endswith("invalid response: a page")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 1.5 "}, 1.5),
        ({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "Mon, 21 Sep 2026 14:14:20 GMT"}, 60.0),
        ({"Retry-After": "Mon, 21 Sep 2026 14:12:20 GMT"}, 0.0),
        ({"Retry-After": "Mon, 21 Sep 2026 14:14:20 GMT", "Date": "Mon, 21 Sep 2026 14:14:10 GMT"}, 10.0),
        ({"Retry-After": "Mon, 99 Sep 2026 14:14:20 GMT"}, None),
        ({"Retry-After": "Mon, 21 Xyz 2026 14:14:20 GMT"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"Retry-After": "soon"}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(Headers(tuple(headers.items())), lambda: NOON) == seconds


def test_what_may_be_asked_again() -> None:
    statuses = (200, 301, 400, 401, 403, 404, 408, 409, 413, 429, 499, 500, 502, 503, 504, 529)
    assert [status for status in statuses if is_retryable_status(status)] == [408, 429, 499, 500, 502, 503, 504, 529]

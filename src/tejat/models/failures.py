"""What becomes of trouble on the way to a model: which kind it is, whether to try again, and when."""

import re
from collections.abc import Callable

from tejat.core.model import FailureKind, ModelFailure
from tejat.core.words import phrase
from tejat.workspace.http.values import Headers, HttpFailure, HttpProblem

# What each problem is to a caller, and whether the same request might succeed later.
_PROBLEMS = {
    HttpProblem.BAD_URL: (FailureKind.BAD_REQUEST, False),
    HttpProblem.BAD_HEADER: (FailureKind.BAD_REQUEST, False),
    HttpProblem.DNS: (FailureKind.NETWORK, True),
    HttpProblem.CONNECT: (FailureKind.NETWORK, True),
    HttpProblem.PROXY: (FailureKind.NETWORK, False),
    HttpProblem.TLS: (FailureKind.NETWORK, False),
    HttpProblem.TIMED_OUT_CONNECT: (FailureKind.TIMED_OUT, True),
    HttpProblem.TIMED_OUT_FIRST_BYTE: (FailureKind.TIMED_OUT, True),
    HttpProblem.TIMED_OUT_IDLE: (FailureKind.TIMED_OUT, True),
    # The longest that anybody wanted to wait is over.
    HttpProblem.TIMED_OUT_WHOLE: (FailureKind.TIMED_OUT, False),
    HttpProblem.CUT: (FailureKind.STREAM_CUT, True),
    HttpProblem.PROTOCOL: (FailureKind.PROTOCOL, False),
    HttpProblem.TOO_LARGE: (FailureKind.PROTOCOL, False),
}

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HTTP_DATE = r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT"
_SECONDS = r"\d{1,9}(?:\.\d{1,9})?"


def of_http(failure: HttpFailure) -> ModelFailure:
    """The failure of a model that could not be reached or did not answer to the end."""
    kind, can_retry = _PROBLEMS[failure.problem]
    return ModelFailure(failure.message, kind, can_retry=can_retry)


def protocol_failure(detail: str) -> ModelFailure:
    """The failure of a service that answered in a way that none of its kind does."""
    return ModelFailure(
        phrase("The service sent something that is no answer of a model: {detail}", detail=detail), FailureKind.PROTOCOL
    )


def can_retry_status(status: int) -> bool:
    """Whether the very same request might be taken later. 499 is a service that lost its patience with itself."""
    return status in {408, 429, 499} or status >= 500


def retry_after(headers: Headers, now: Callable[[], float]) -> float | None:
    """How many seconds the service wants us to wait, by the headers that say so in seconds or as a date."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None and re.fullmatch(_SECONDS, milliseconds.strip()):
        return float(milliseconds) / 1000
    value = (headers.get("retry-after") or "").strip()
    if re.fullmatch(_SECONDS, value):
        return float(value)
    until = _instant(value)
    if until is None:
        return None
    # By the service's own clock, if it tells: ours may be wrong.
    its_now = _instant(headers.get("date") or "")
    return max(0.0, until - (now() if its_now is None else its_now))


def _instant(text: str) -> float | None:
    found = re.fullmatch(_HTTP_DATE, text.strip())
    if found is None or found[2] not in _MONTHS:
        return None
    from datetime import UTC, datetime

    day, month, year, hour, minute, second = found.groups()
    try:
        moment = datetime(
            int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC
        )
    except ValueError:
        return None
    return moment.timestamp()

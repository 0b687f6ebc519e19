"""Conversion of HTTP problems to model failures, and retry hints."""

import re
from collections.abc import Callable, Mapping

from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.wire.json_access import as_list, as_object, as_str
from tejat.workspace.http.types import Headers, HttpFailure, HttpFailureKind

# The failure kind of each problem, and whether the same request may succeed later.
_PROBLEMS = {
    HttpFailureKind.BAD_URL: (FailureKind.BAD_REQUEST, False),
    HttpFailureKind.BAD_HEADER: (FailureKind.BAD_REQUEST, False),
    HttpFailureKind.DNS: (FailureKind.NETWORK, True),
    HttpFailureKind.CONNECT: (FailureKind.NETWORK, True),
    HttpFailureKind.PROXY: (FailureKind.NETWORK, False),
    HttpFailureKind.TLS: (FailureKind.NETWORK, False),
    HttpFailureKind.TIMED_OUT_CONNECT: (FailureKind.TIMED_OUT, True),
    HttpFailureKind.TIMED_OUT_FIRST_BYTE: (FailureKind.TIMED_OUT, True),
    HttpFailureKind.TIMED_OUT_IDLE: (FailureKind.TIMED_OUT, True),
    # The caller's own time limit.
    HttpFailureKind.TIMED_OUT_TOTAL: (FailureKind.TIMED_OUT, False),
    HttpFailureKind.DISCONNECTED: (FailureKind.STREAM_CUT, True),
    HttpFailureKind.PROTOCOL: (FailureKind.PROTOCOL, False),
    HttpFailureKind.TOO_LARGE: (FailureKind.PROTOCOL, False),
}

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HTTP_DATE = r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT"
_SECONDS = r"\d{1,9}(?:\.\d{1,9})?"
_EXHAUSTED_REASONS = frozenset({"QUOTA_EXHAUSTED", "MODEL_CAPACITY_EXHAUSTED"})
_LIMIT_OF_ZERO = r"(?i)\blimit: *0(?!\d|\.\d)"


def failure_from_http(failure: HttpFailure) -> ModelFailure:
    """Convert a connection problem."""
    kind, can_retry = _PROBLEMS[failure.kind]
    return ModelFailure(failure.message, kind, can_retry=can_retry)


def protocol_failure(detail: str) -> ModelFailure:
    """Create the failure for a response that does not follow the protocol of the service."""
    message = lazy("The service sent an invalid response: {detail}", detail=detail)
    return ModelFailure(message, FailureKind.PROTOCOL)


def is_retryable_status(status: int) -> bool:
    """Return whether the same request may succeed later. 499 means that the service cancelled it."""
    return status in {408, 429, 499} or status >= 500


def is_quota_exhausted(error: Mapping[str, object], status: int) -> bool:
    """Return whether an error object says that no later request will succeed, whatever delay the service names."""
    reasons = {as_object(detail).get("reason") for detail in as_list(error.get("details"))}
    has_no_quota = status == 429 and re.search(_LIMIT_OF_ZERO, as_str(error.get("message")))
    return bool(reasons & _EXHAUSTED_REASONS or has_no_quota)


def parse_retry_after(headers: Headers, now: Callable[[], float]) -> float | None:
    """Return the delay in seconds that the headers ask for, in seconds or as a date; None if they do not."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None and re.fullmatch(_SECONDS, milliseconds.strip()):
        return float(milliseconds) / 1000
    value = (headers.get("retry-after") or "").strip()
    if re.fullmatch(_SECONDS, value):
        return float(value)
    until = _parse_http_date(value)
    if until is None:
        return None
    # By the service's clock if it sends it: ours may be wrong.
    its_now = _parse_http_date(headers.get("date") or "")
    return max(0.0, until - (now() if its_now is None else its_now))


def _parse_http_date(text: str) -> float | None:
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

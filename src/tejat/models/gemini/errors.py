"""Parsing of error responses of the Gemini API."""

import re
from collections.abc import Iterable, Mapping

from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.wire.context_overflow import is_context_too_long, parse_overflow
from tejat.models.wire.http_errors import is_quota_exhausted, is_retryable_status
from tejat.models.wire.json_access import as_list, as_object, unwrap_error
from tejat.models.wire.redact import safe_text, strip_markup

_SECONDS = r"(\d{1,9}(?:\.\d{1,9})?)s"
_RETRY_IN = r"(?i)retry in (\d{1,9}(?:\.\d{1,9})?)s"
_INVALID_KEY = r"(?i)API.?key (?:not valid|expired|not found|invalid)|API_KEY_(?:INVALID|EXPIRED)"


def parse_api_error(
    body: object, *, status: int | None = None, retry_after: float | None = None, secrets: Iterable[str] = ()
) -> ModelFailure:
    """Convert an error response, or an error in the middle of a stream.

    `status` is that of the response, `retry_after` the delay that its headers ask for.
    """
    error = _error_object(body)
    code = error.get("code") if status in {None, 200} else status
    code = code if isinstance(code, int) else 500
    details = [as_object(detail) for detail in as_list(error.get("details"))]
    text = _error_message(body, error, code, secrets)
    reasons = " ".join(str(detail.get("reason", "")) for detail in details)
    wait = _retry_delay(details, str(error.get("message", "")))
    # The body is more precise than the headers of a gateway.
    wait = retry_after if wait is None else wait
    if re.search(_INVALID_KEY, f"{error.get('message', '')} {reasons}") or code in {401, 403}:
        message = lazy("The service rejected the API key. {text}", text=text)
        return ModelFailure(message, FailureKind.AUTHENTICATION, status=code)
    if code == 404:
        message = lazy("Model not found. {text}", text=text)
        return ModelFailure(message, FailureKind.BAD_REQUEST, status=code)
    if is_quota_exhausted(error, code):
        message = lazy("No quota or capacity left for this model. {text}", text=text)
        return ModelFailure(message, FailureKind.RATE_LIMITED, status=code)
    if code == 429:
        return _rate_limited(text, details, wait)
    # The service answers some requests that are too long with 500.
    if code == 413 or (code in {400, 422, 500} and is_context_too_long(text)):
        message = lazy("The conversation is too long. {text}", text=text)
        overflow = parse_overflow(text, error)
        return ModelFailure(message, FailureKind.CONTEXT_FULL, status=code, overflow=overflow)
    if is_retryable_status(code):
        message = lazy("The service is unavailable. {text}", text=text)
        return ModelFailure(message, FailureKind.UNAVAILABLE, status=code, retry_after=wait, can_retry=True)
    if code >= 400:
        message = lazy("The service rejected the request. {text}", text=text)
        return ModelFailure(message, FailureKind.BAD_REQUEST, status=code)
    message = lazy("This address does not seem to be a model service. {text}", text=text)
    return ModelFailure(message, FailureKind.PROTOCOL, status=code)


def _error_object(answer: object) -> Mapping[str, object]:
    # Outside of a stream the service responds with a list.
    first = next(iter(as_list(answer)), answer)
    return unwrap_error(as_object(as_object(first).get("error")))


def _error_message(answer: object, error: Mapping[str, object], code: int, secrets: Iterable[str]) -> str:
    text = error.get("message")
    if not isinstance(text, str):
        text = strip_markup(answer) if isinstance(answer, str) else ""
    return safe_text(f"(HTTP {code}) {text}", secrets)


def _retry_delay(details: list[Mapping[str, object]], message: str) -> float | None:
    stated = (re.fullmatch(_SECONDS, str(detail.get("retryDelay", ""))) for detail in details)
    found = next(filter(None, stated), None) or re.search(_RETRY_IN, message)
    return None if found is None else float(found[1])


def _rate_limited(text: str, details: list[Mapping[str, object]], wait: float | None) -> ModelFailure:
    violations = [as_object(found) for detail in details for found in as_list(detail.get("violations"))]
    quotas = sorted({quota for quota in (_quota_name(violation) for violation in violations) if quota})
    which = lazy(" Quota: {names}.", names=", ".join(quotas)) if quotas else ""
    if any("PerDay" in quota for quota in quotas):
        # Retrying on the same day is pointless, whatever delay the service names.
        message = lazy(
            "The daily quota is used up. It resets at midnight Pacific time.{which} {text}",
            which=which,
            text=text,
        )
        return ModelFailure(message, FailureKind.RATE_LIMITED, status=429, retry_after=wait)
    if violations and all(violation.get("quotaValue") == "0" for violation in violations):
        message = lazy("This API key has no quota for the model.{which} {text}", which=which, text=text)
        return ModelFailure(message, FailureKind.RATE_LIMITED, status=429)
    message = lazy("Too many requests.{which} {text}", which=which, text=text)
    return ModelFailure(message, FailureKind.RATE_LIMITED, status=429, retry_after=wait, can_retry=True)


def _quota_name(violation: Mapping[str, object]) -> str:
    return safe_text(str(violation.get("quotaId") or violation.get("quotaMetric") or ""), max_length=120)

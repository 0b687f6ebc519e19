"""Parsing of error responses of OpenAI, Anthropic and compatible servers."""

from collections.abc import Mapping

from tejat.core.frozen import Frozen, field
from tejat.core.i18n import join_lazy, lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.wire.context_overflow import is_context_too_long, parse_overflow
from tejat.models.wire.http_errors import is_quota_exhausted, is_retryable_status
from tejat.models.wire.json_access import as_list, as_object, as_str, unwrap_error
from tejat.models.wire.redact import safe_text, strip_markup

"""How much of an error body is read."""


class ModelTarget(Frozen):
    """The model and its key, for error messages. The key is only used to mask it."""

    model: str
    key_name: str
    key: str = field(default="", repr=False)


def parse_api_error(
    body: object, target: ModelTarget, *, status: int, retry_after: float | None = None
) -> ModelFailure:
    """Convert an error response. `status` is that of the response, 200 for an error inside a stream."""
    error = unwrap_error(_error_object(body))
    words = {as_str(error.get(key)) for key in ("code", "type")}
    code = status if status != 200 else _status_from_error(error, words)
    text = as_str(error.get("message")) or (as_str(body) if not error else "")
    text = safe_text(f"(HTTP {code}) {strip_markup(text)}", (target.key,))
    is_too_long = words & _CONTEXT_TOO_LONG_CODES or code == 413
    if is_too_long or (code < 500 and is_context_too_long(text)):
        message = lazy("The conversation is too long. {text}", text=text)
        overflow = parse_overflow(text, error)
        return ModelFailure(message, FailureKind.CONTEXT_FULL, status=code, overflow=overflow)
    if words & _NO_CREDIT_CODES or code == 402:
        message = lazy("The account has no credit left. {text}", text=text)
        return ModelFailure(message, FailureKind.RATE_LIMITED, status=code)
    if is_quota_exhausted(error, code):
        message = lazy("No quota or capacity left for this model. {text}", text=text)
        return ModelFailure(message, FailureKind.RATE_LIMITED, status=code)
    if code in {401, 403}:
        advice = lazy("Check {key_name}.", key_name=target.key_name)
        if not target.key:
            advice = lazy("It needs an API key: set {key_name}.", key_name=target.key_name)
        message = lazy("The service rejected the API key. {text} {advice}", text=text, advice=advice)
        return ModelFailure(message, FailureKind.AUTHENTICATION, status=code)
    if code == 404:
        model = safe_text(target.model, max_length=100)
        advice = lazy("Check that this server has a model named {model}, and that the address is right.", model=model)
        message = lazy("Model not found. {text} {advice}", text=text, advice=advice)
        return ModelFailure(message, FailureKind.BAD_REQUEST, status=code)
    return _other_failure(code, text, retry_after)


def _error_object(answer: object) -> Mapping[str, object]:
    """Return the error object, which servers put in different places."""
    listed = as_list(answer)
    whole = as_object(listed[0] if listed else answer)
    error = whole.get("error", whole)
    if isinstance(error, str):
        return {"message": error}
    fields = dict(as_object(error))
    if not isinstance(fields.get("message"), str) and "detail" in fields:
        fields["message"] = str(fields["detail"])
    return fields


_STATUSES = {
    "invalid_request_error": 400,
    **dict.fromkeys(("invalid_prompt", "bio_policy", "cyber_policy"), 400),
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "server_is_overloaded": 503,
    "slow_down": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def _status_from_error(error: Mapping[str, object], words: set[str]) -> int:
    """Return the status that an error inside a stream stands for. Unknown ones count as server errors."""
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    known = next((_STATUSES[word] for word in sorted(words) if word in _STATUSES), None)
    if known is None and any(word.startswith(_REFUSED_INPUT) for word in words):
        return 400
    return known or 500


_REFUSED_INPUT = ("invalid_image", "invalid_base64_image", "image_", "unsupported_image", "empty_image")
_CONTEXT_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
_NO_CREDIT_CODES = frozenset(
    {"insufficient_quota", "billing_error", "billing_hard_limit_reached", "insufficient_credits"}
)


def _other_failure(code: int, text: str, retry_after: float | None) -> ModelFailure:
    if code == 429:
        what, kind = lazy("Too many requests."), FailureKind.RATE_LIMITED
    elif is_retryable_status(code):
        what, kind = lazy("The service is unavailable."), FailureKind.UNAVAILABLE
    elif code >= 400:
        message = lazy("The service rejected the request. {text}", text=text)
        return ModelFailure(message, FailureKind.BAD_REQUEST, status=code)
    else:
        message = lazy("This address does not seem to be a model service. {text}", text=text)
        return ModelFailure(message, FailureKind.PROTOCOL, status=code)
    return ModelFailure(join_lazy(" ", (what, text)), kind, status=code, retry_after=retry_after, can_retry=True)

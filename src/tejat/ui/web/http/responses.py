"""Responses with the headers that every page and every answer must have."""

from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue
from tejat.workspace.http.server import BodyStream, HttpError, ServerResponse

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = (
    ("content-security-policy", CONTENT_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
PRIVATE = ("cache-control", "no-store")
REVALIDATED = ("cache-control", "no-cache")


def json_response(value: JsonValue, status: int = 200) -> ServerResponse:
    """An answer to the page."""
    headers = (("content-type", "application/json; charset=utf-8"), PRIVATE, *SECURITY_HEADERS)
    return ServerResponse(status, headers, dump_json(value).encode())


def html_response(text: str, status: int = 200, *headers: tuple[str, str]) -> ServerResponse:
    """A page."""
    own = (("content-type", "text/html; charset=utf-8"), PRIVATE, *SECURITY_HEADERS, *headers)
    return ServerResponse(status, own, text.encode("utf-8", "replace"))


def stream_response(stream: BodyStream) -> ServerResponse:
    """A stream of server-sent events."""
    headers = (("content-type", "text/event-stream; charset=utf-8"), PRIVATE, *SECURITY_HEADERS)
    return ServerResponse(200, headers, stream=stream)


def error_response(error: HttpError) -> ServerResponse:
    """An error as the page shows it."""
    refused = json_response({"error": error.message}, error.status)
    return ServerResponse(refused.status, (*refused.headers, *error.headers), refused.body)

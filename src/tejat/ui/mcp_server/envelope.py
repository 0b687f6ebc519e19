"""Request metadata of the stateless protocol revisions, checked against the HTTP headers."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping

from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp import protocol
from tejat.mcp.protocol import META_CAPABILITIES, META_REVISION, STATELESS_REVISIONS, JsonRpcRequest

REVISION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

_BASE64 = re.compile(r"=\?base64\?(.*)\?=")


class RequestRejected(Exception):
    """A request that is answered with a protocol error."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Envelope(Frozen):
    """Protocol revision and capabilities that a stateless request declares."""

    revision: str
    capabilities: JsonObject = field(default_factory=dict[str, JsonValue])


def has_envelope(request: JsonRpcRequest) -> bool:
    """Whether the request carries its own metadata. `initialize` never does."""
    return request.method != "initialize" and META_REVISION in request_meta(request.params)


def request_meta(params: JsonObject | None) -> JsonObject:
    meta = (params or {}).get("_meta")
    return meta if isinstance(meta, Mapping) else {}


def parse_envelope(request: JsonRpcRequest, headers: Iterable[tuple[str, str]] | None = None) -> Envelope:
    """Parse the metadata and compare it with the HTTP `headers`, if any. Raises RequestRejected."""
    meta = request_meta(request.params)
    missing = [name for name in (META_REVISION, META_CAPABILITIES) if name not in meta]
    if missing:
        raise RequestRejected(protocol.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    revision, capabilities = meta[META_REVISION], meta[META_CAPABILITIES]
    if headers is not None:
        _check_headers(request, revision, headers)
    if not isinstance(revision, str) or not isinstance(capabilities, Mapping):
        raise RequestRejected(
            protocol.INVALID_PARAMS, f"{META_REVISION} must be a text and {META_CAPABILITIES} an object."
        )
    if revision not in STATELESS_REVISIONS:
        raise unsupported_revision(revision)
    return Envelope(revision, capabilities)


def unsupported_revision(revision: str) -> RequestRejected:
    supported: JsonObject = {"supported": list(STATELESS_REVISIONS), "requested": revision}
    return RequestRejected(
        protocol.UNSUPPORTED_REVISION, "This revision of the protocol is not spoken here.", supported
    )


def _check_headers(request: JsonRpcRequest, revision: JsonValue, headers: Iterable[tuple[str, str]]) -> None:
    """Check that the headers, by which proxies route, agree with the body."""
    found: dict[str, str] = {}
    for name, text in headers:
        name = name.lower()  # noqa: PLW2901 -- names are compared without regard to case
        if name in found and name in (REVISION_HEADER, METHOD_HEADER, NAME_HEADER):
            raise RequestRejected(protocol.HEADER_MISMATCH, f"The header {name} is there more than once.")
        found[name] = text
    named_by = protocol.NAME_PARAMS.get(request.method)
    name = None if named_by is None else (request.params or {}).get(named_by)
    agreements = {
        REVISION_HEADER: REVISION_HEADER in found and found[REVISION_HEADER] == revision,
        METHOD_HEADER: found.get(METHOD_HEADER) == request.method,
        NAME_HEADER: name is None or _decode_header(found.get(NAME_HEADER)) == name,
    }
    for header, agrees in agreements.items():
        if not agrees:
            raise RequestRejected(protocol.HEADER_MISMATCH, f"The header {header} is not what the request says.")


def _decode_header(text: str | None) -> str | None:
    """Return the decoded header value, None if it cannot be decoded."""
    found = None if text is None else _BASE64.fullmatch(text)
    if found is None:
        return text
    try:
        return base64.b64decode(found.group(1), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None

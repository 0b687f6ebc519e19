"""What a request of the stateless revisions says of itself, and whether its HTTP headers say the same."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping

from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import field, value
from tejat.mcp.protocol import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    META_CAPABILITIES,
    META_REVISION,
    NAMED_BY,
    STATELESS_REVISIONS,
    UNSUPPORTED_REVISION,
    Request,
)

REVISION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

_BASE64 = re.compile(r"=\?base64\?(.*)\?=")


class Refused(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@value
class Envelope:
    """Who asks, in which revision, and what they can do."""

    revision: str
    capabilities: JsonObject = field(default_factory=dict[str, JsonValue])


def has_envelope(request: Request) -> bool:
    """Whether the request speaks for itself. `initialize` never does, whatever a client puts into it."""
    return request.method != "initialize" and META_REVISION in meta_of(request.params)


def meta_of(params: JsonObject | None) -> JsonObject:
    meta = (params or {}).get("_meta")
    return meta if isinstance(meta, Mapping) else {}


def read_envelope(request: Request, headers: Iterable[tuple[str, str]] | None = None) -> Envelope:
    """Raises Refused. `headers` are those of HTTP, where that is the way it came."""
    meta = meta_of(request.params)
    missing = [name for name in (META_REVISION, META_CAPABILITIES) if name not in meta]
    if missing:
        raise Refused(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    revision, capabilities = meta[META_REVISION], meta[META_CAPABILITIES]
    if headers is not None:
        _compare(request, revision, headers)
    if not isinstance(revision, str) or not isinstance(capabilities, Mapping):
        raise Refused(INVALID_PARAMS, f"{META_REVISION} must be a text and {META_CAPABILITIES} an object.")
    if revision not in STATELESS_REVISIONS:
        raise unsupported(revision)
    return Envelope(revision, capabilities)


def unsupported(revision: str) -> Refused:
    supported: JsonObject = {"supported": list(STATELESS_REVISIONS), "requested": revision}
    return Refused(UNSUPPORTED_REVISION, "This revision of the protocol is not spoken here.", supported)


def _compare(request: Request, revision: JsonValue, headers: Iterable[tuple[str, str]]) -> None:
    """Whoever routes by the headers must have seen what the body says."""
    found: dict[str, str] = {}
    for name, text in headers:
        name = name.lower()  # noqa: PLW2901 -- names are compared without regard to case
        if name in found and name in (REVISION_HEADER, METHOD_HEADER, NAME_HEADER):
            raise Refused(HEADER_MISMATCH, f"The header {name} is there more than once.")
        found[name] = text
    if REVISION_HEADER not in found or found[REVISION_HEADER] != revision:
        raise Refused(HEADER_MISMATCH, f"The header {REVISION_HEADER} is not what the request says.")
    if found.get(METHOD_HEADER) != request.method:
        raise Refused(HEADER_MISMATCH, f"The header {METHOD_HEADER} is not what the request says.")
    named_by = NAMED_BY.get(request.method)
    name = None if named_by is None else (request.params or {}).get(named_by)
    if name is not None and _decoded(found.get(NAME_HEADER)) != name:
        raise Refused(HEADER_MISMATCH, f"The header {NAME_HEADER} is not what the request says.")


def _decoded(text: str | None) -> str | None:
    """What a header stands for; None for one that cannot be read."""
    found = None if text is None else _BASE64.fullmatch(text)
    if found is None:
        return text
    try:
        return base64.b64decode(found.group(1), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None

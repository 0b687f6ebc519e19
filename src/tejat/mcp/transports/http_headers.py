"""Protocol headers of HTTP requests."""

import base64
import re
from collections.abc import Mapping

from tejat.core.messages.types import JsonObject
from tejat.mcp.protocol import META_REVISION, NAME_PARAMS, JsonRpcMessage, JsonRpcRequest


def protocol_headers(message: JsonRpcMessage | None, *, revision: str | None, session: str | None) -> dict[str, str]:
    """Return the headers for a message, or for a request without one (None).

    `revision` and `session` are the negotiated ones. A request that states its own revision belongs to no session, and
    its headers name its target.
    """
    params = message.params if isinstance(message, JsonRpcRequest) else None
    stated = _text_at(params, "_meta", META_REVISION)
    if isinstance(message, JsonRpcRequest) and stated is not None:
        headers = {"MCP-Protocol-Version": stated, "Mcp-Method": message.method}
        name = _text_at(params, NAME_PARAMS[message.method]) if message.method in NAME_PARAMS else None
        return headers if name is None else {**headers, "Mcp-Name": encode_header_value(name)}
    if isinstance(message, JsonRpcRequest) and message.method == "initialize":
        return {}
    agreed = {} if revision is None else {"MCP-Protocol-Version": revision}
    return agreed if session is None else {**agreed, "Mcp-Session-Id": session}


def encode_header_value(text: str) -> str:
    """Encode a header value, in base64 if it contains anything but plain ASCII."""
    is_plain = text.isascii() and text.isprintable() and text == text.strip()
    if is_plain and not re.fullmatch(r"=\?base64\?.*\?=", text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}?="


def _text_at(params: JsonObject | None, *path: str) -> str | None:
    found: object = params
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None

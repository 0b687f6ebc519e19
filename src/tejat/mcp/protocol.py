"""JSON-RPC 2.0 messages and revisions of the Model Context Protocol."""

from collections.abc import Mapping
from typing import TypeAlias, assert_never, cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue

HANDSHAKE_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, newest first."""
STATELESS_REVISIONS = ("2026-07-28",)
"""Revisions in which every request identifies the client, newest first; found out by `server/discover`."""

MAX_CONTAINERS = 1_000_000
"""Limit of objects and lists in one message: each takes many times its bytes in memory."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_REVISION = -32022
URL_ELICITATION_REQUIRED = -32042

META_REVISION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

TOOL_CALL = "tools/call"
NAME_PARAMS: Mapping[str, str] = {TOOL_CALL: "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that names the target, by method."""

RequestId: TypeAlias = int | str


class JsonRpcRequest(Frozen):
    id: RequestId
    method: str
    params: JsonObject | None = None


class JsonRpcNotification(Frozen):
    method: str
    params: JsonObject | None = None


class JsonRpcResponse(Frozen):
    """The result of a request."""

    id: RequestId
    result: JsonObject


class JsonRpcError(Frozen):
    """The error of a request. `id` is None if the other side could not read it."""

    id: RequestId | None
    code: int
    message: str
    data: JsonValue = None


JsonRpcMessage: TypeAlias = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse | JsonRpcError


class InvalidMessage(ValueError):
    """Not a valid message. `id` is the request that it belongs to, if that is known."""

    def __init__(self, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.id = request_id


def parse_message(given: object) -> JsonRpcMessage:
    """Parse a message from a JSON value. Raises InvalidMessage."""
    if not isinstance(given, dict):
        raise InvalidMessage(lazy("a message must be a JSON object"))
    known = cast("dict[str, JsonValue]", given)
    request_id = _parse_id(known)
    method = known.get("method")
    if isinstance(method, str):
        params = known.get("params")
        if params is not None and not isinstance(params, Mapping):
            raise InvalidMessage(lazy("the params of a message must be an object"), request_id)
        return JsonRpcNotification(method, params) if request_id is None else JsonRpcRequest(request_id, method, params)
    if "error" in known:
        return _parse_error(known["error"], request_id)
    result = known.get("result")
    if request_id is None or not isinstance(result, Mapping):
        raise InvalidMessage(lazy("not a request, notification or response"), request_id)
    return JsonRpcResponse(request_id, result)


def message_to_json(message: JsonRpcMessage) -> JsonObject:
    match message:
        case JsonRpcRequest(request_id, method, params):
            request: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": request_id, "method": method}
            return request if params is None else {**request, "params": params}
        case JsonRpcNotification(method, params):
            notification: dict[str, JsonValue] = {"jsonrpc": "2.0", "method": method}
            return notification if params is None else {**notification, "params": params}
        case JsonRpcResponse(request_id, result):
            return {"jsonrpc": "2.0", "id": request_id, "result": result}
        case JsonRpcError(request_id, code, text, data):
            error: dict[str, JsonValue] = {"code": code, "message": text}
            return {"jsonrpc": "2.0", "id": request_id, "error": error if data is None else {**error, "data": data}}
        case _:
            assert_never(message)


def _parse_id(known: Mapping[str, JsonValue]) -> RequestId | None:
    request_id = known.get("id")
    if isinstance(request_id, bool):
        return None
    if isinstance(request_id, float) and request_id.is_integer():
        return int(request_id)
    return request_id if isinstance(request_id, int | str) else None


def _parse_error(error: JsonValue, request_id: RequestId | None) -> JsonRpcError:
    if not isinstance(error, Mapping):
        raise InvalidMessage(lazy("the error of a response must be an object"), request_id)
    code, message = error.get("code"), error.get("message")
    is_number = isinstance(code, int) and not isinstance(code, bool)
    return JsonRpcError(
        request_id,
        code if is_number and isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else lazy("no reason given"),
        error.get("data"),
    )

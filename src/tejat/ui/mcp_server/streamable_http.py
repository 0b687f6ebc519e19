"""The streamable HTTP transport: one endpoint, a token, and sessions for the handshake revisions."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable

from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import JsonValue
from tejat.mcp import protocol
from tejat.mcp.protocol import JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, RequestId
from tejat.ui.mcp_server.envelope import (
    REVISION_HEADER,
    Envelope,
    RequestRejected,
    has_envelope,
    parse_envelope,
    unsupported_revision,
)
from tejat.ui.mcp_server.message_encoder import encode_reply
from tejat.ui.mcp_server.server_session import ServerSession
from tejat.ui.mcp_server.tool_server import ToolServer
from tejat.workspace.http.server import HttpError as HttpRefused
from tejat.workspace.http.server import ServerRequest, ServerResponse, serve

ENDPOINT_PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"

_MAX_SESSIONS = 32
_SESSION_SECONDS = 1800.0
_KEEP_ALIVE_SECONDS = 15.0
_CLOSE_SECONDS = 0.5
_MAX_QUEUED = 64

_STATUS_BY_ERROR = {
    protocol.PARSE_ERROR: 400,
    protocol.INVALID_REQUEST: 400,
    protocol.INVALID_PARAMS: 400,
    protocol.HEADER_MISMATCH: 400,
    protocol.MISSING_CAPABILITY: 400,
    protocol.UNSUPPORTED_REVISION: 400,
    protocol.METHOD_NOT_FOUND: 404,
}
_STREAM = (("content-type", "text/event-stream"), ("cache-control", "no-cache, no-transform"))
_JSON = (("content-type", "application/json"),)


async def serve_http(server: ToolServer, *, port: int, token: str, on_listening: Callable[[int], None]) -> None:
    """Listen on a port, 0 for any, until cancelled, then stop everything; `on_listening` gets it. Raises OSError."""
    endpoint = HttpEndpoint(server, token=token)
    serving = await serve(endpoint.handle, port=port)
    endpoint.port = serving.port
    try:
        on_listening(serving.port)
        await asyncio.get_running_loop().create_future()
    finally:
        await serving.close(grace_seconds=_CLOSE_SECONDS)
        await endpoint.close()


class HttpEndpoint:
    """Handles requests to `port`. Refuses those without the token, by another host name or from web pages."""

    def __init__(self, server: ToolServer, *, token: str) -> None:
        self.port = 0
        self._server = server
        self._token = token
        self._sessions: dict[str, _Session] = {}

    async def handle(self, request: ServerRequest) -> ServerResponse:
        """Answer an HTTP request. Raises HttpRejected."""
        self._check_host_and_origin(request)
        if request.path != ENDPOINT_PATH:
            raise HttpRefused(404, f"There is nothing here. The address ends with {ENDPOINT_PATH}.")
        self._check_token(request)
        await self._expire_sessions()
        match request.method:
            case "POST":
                return await self._post(request)
            case "DELETE":
                return await self._delete(request)
            case _:
                raise HttpRefused(405, "Only POST and DELETE are known here.", (("allow", "POST, DELETE"),))

    async def close(self) -> None:
        """Close all sessions and cancel their requests."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.client.close()

    def _check_host_and_origin(self, request: ServerRequest) -> None:
        names = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        hosts = request.headers.get_all("host")
        if len(hosts) != 1 or hosts[0].lower() not in names:
            raise HttpRefused(421, "This server does not answer to that name.")
        origins = request.headers.get_all("origin")
        if any(origin.lower() not in {f"http://{name}" for name in names} for origin in origins):
            raise HttpRefused(403, "This server does not answer to pages from elsewhere.")

    def _check_token(self, request: ServerRequest) -> None:
        given = request.headers.get_all("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        # Compare bytes: non-ASCII strings cannot be compared in constant time.
        is_right = secrets.compare_digest(token.strip().encode("utf-8", "replace"), self._token.encode())
        if scheme.lower() != "bearer" or not is_right:
            challenge = (("www-authenticate", 'Bearer realm="tejat"'),)
            raise HttpRefused(401, "The token is missing or wrong. It was told when the server was started.", challenge)

    async def _expire_sessions(self) -> None:
        now = time.monotonic()
        for name, session in list(self._sessions.items()):
            if session.client.is_idle and now - session.last_used > _SESSION_SECONDS:
                del self._sessions[name]
                await session.client.close()

    async def _post(self, request: ServerRequest) -> ServerResponse:
        _check_content_types(request)
        try:
            text = (await request.read()).decode()
            message = protocol.parse_message(load_json(text, max_containers=protocol.MAX_CONTAINERS))
        except (InvalidJson, UnicodeDecodeError) as error:
            return _error(None, protocol.PARSE_ERROR, f"This is not JSON: {error}.")
        except protocol.InvalidMessage as error:
            return _error(error.id, protocol.INVALID_REQUEST, f"This is no message: {error}.")
        revision = request.headers.get(REVISION_HEADER)
        is_of_handshake = revision is None or revision in protocol.HANDSHAKE_REVISIONS
        if isinstance(message, JsonRpcRequest) and (has_envelope(message) or not is_of_handshake):
            try:
                envelope = parse_envelope(message, request.headers.items())
            except RequestRejected as refused:
                return _error(message.id, refused.code, refused.message, refused.data)
            return await self._respond(ServerSession(self._server), message, envelope)
        if is_of_handshake:
            return await self._handle_in_session(request, message)
        if revision not in protocol.STATELESS_REVISIONS:
            refused = unsupported_revision(str(revision))
            return _error(None, refused.code, refused.message, refused.data)
        return ServerResponse(202)  # stateless notifications concern no other request

    async def _handle_in_session(self, request: ServerRequest, message: JsonRpcMessage) -> ServerResponse:
        name = request.headers.get(SESSION_HEADER)
        if name is None and isinstance(message, JsonRpcRequest) and message.method == "initialize":
            return await self._begin_session(message)
        if name is None:
            return _error(_id_of(message), protocol.INVALID_REQUEST, f"The header {SESSION_HEADER} is missing.")
        session = self._sessions.get(name)
        if session is None:
            why = "This session is over, or never was."
            return _error(_id_of(message), protocol.INVALID_REQUEST, why, status=404)
        session.last_used = time.monotonic()
        if isinstance(message, JsonRpcRequest):
            return await self._respond(session.client, message)
        session.client.handle_message(message)
        return ServerResponse(202)

    async def _begin_session(self, message: JsonRpcRequest) -> ServerResponse:
        if len(self._sessions) >= _MAX_SESSIONS:
            why = "Too many sessions. End one of them first."
            return _error(message.id, protocol.INTERNAL_ERROR, why, status=503)
        session = _Session(ServerSession(self._server))
        reply = await self._respond(session.client, message)
        if session.client.revision is None:
            return reply
        name = secrets.token_urlsafe(24)
        self._sessions[name] = session
        return ServerResponse(reply.status, (*reply.headers, (SESSION_HEADER, name)), reply.body)

    async def _delete(self, request: ServerRequest) -> ServerResponse:
        session = self._sessions.pop(request.headers.get(SESSION_HEADER) or "", None)
        if session is None:
            raise HttpRefused(404, "This session is over, or never was.")
        await session.client.close()
        return ServerResponse(204)

    async def _respond(
        self, client: ServerSession, request: JsonRpcRequest, envelope: Envelope | None = None
    ) -> ServerResponse:
        """Reply with JSON if the answer is the only message, else with an event stream that ends with it."""
        outgoing = _ResponseQueue(client, request, envelope)
        try:
            first = await outgoing.next()
        except BaseException:
            await outgoing.close()
            raise
        if isinstance(first, JsonRpcResponse | JsonRpcError):
            await outgoing.close()
            status = _STATUS_BY_ERROR.get(first.code, 200) if envelope and isinstance(first, JsonRpcError) else 200
            return ServerResponse(status, _JSON, encode_reply(first))
        return ServerResponse(200, _STREAM, stream=_EventStream(first, outgoing))


class _Session:
    def __init__(self, client: ServerSession) -> None:
        self.client = client
        self.last_used = time.monotonic()


class _ResponseQueue:
    """Messages about one request. Closing it cancels the request."""

    def __init__(self, client: ServerSession, request: JsonRpcRequest, envelope: Envelope | None) -> None:
        self._queue: asyncio.Queue[JsonRpcMessage | None] = asyncio.Queue(_MAX_QUEUED)
        self._task = asyncio.create_task(self._answer(client, request, envelope))

    async def next(self) -> JsonRpcMessage | None:
        """Return the next message, None after a pause or at the end: see `is_over`."""
        try:
            async with asyncio.timeout(_KEEP_ALIVE_SECONDS):
                return await self._queue.get()
        except TimeoutError:
            return None

    @property
    def is_over(self) -> bool:
        return self._task.done() and self._queue.empty()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _answer(self, client: ServerSession, request: JsonRpcRequest, envelope: Envelope | None) -> None:
        await client.handle_request(request, self._queue.put, envelope)
        await self._queue.put(None)


class _EventStream:
    """Server-sent events for one request, up to its answer."""

    def __init__(self, first: JsonRpcMessage | None, outgoing: _ResponseQueue) -> None:
        self._first = first
        self._outgoing = outgoing

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        message = self._first
        while True:
            # Comments keep proxies from closing a silent connection.
            yield b": still at it\n\n" if message is None else b"event: message\ndata: " + encode_reply(message) + b"\n"
            if isinstance(message, JsonRpcResponse | JsonRpcError) or self._outgoing.is_over:
                return
            message = await self._outgoing.next()

    async def aclose(self) -> None:
        await self._outgoing.close()


def _check_content_types(request: ServerRequest) -> None:
    content = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if content != "application/json":
        raise HttpRefused(415, "The body must be application/json.")
    parts = ",".join(request.headers.get_all("accept")).split(",")
    accepted = {part.partition(";")[0].strip().lower() for part in parts}
    required = ({"application/json", "application/*", "*/*"}, {"text/event-stream", "text/*", "*/*"})
    if any(accepted.isdisjoint(each) for each in required):
        raise HttpRefused(406, "The client must accept application/json and text/event-stream.")


def _id_of(message: JsonRpcMessage) -> RequestId | None:
    return message.id if isinstance(message, JsonRpcRequest) else None


def _error(
    request_id: RequestId | None, code: int, message: str, data: JsonValue = None, *, status: int = 400
) -> ServerResponse:
    return ServerResponse(status, _JSON, encode_reply(JsonRpcError(request_id, code, message, data)))

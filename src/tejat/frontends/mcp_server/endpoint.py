"""Clients that talk to us over HTTP: one address, a token, and sessions for the revisions that have them."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable

from tejat.core.json_text import NotJson, load_json
from tejat.core.types import JsonValue
from tejat.frontends.mcp_server.client import Client
from tejat.frontends.mcp_server.envelope import (
    REVISION_HEADER,
    Envelope,
    Refused,
    has_envelope,
    read_envelope,
    unsupported,
)
from tejat.frontends.mcp_server.sending import encoded
from tejat.frontends.mcp_server.server import ToolServer
from tejat.mcp.protocol import (
    HANDSHAKE_REVISIONS,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    MOST_INNER,
    PARSE_ERROR,
    STATELESS_REVISIONS,
    UNSUPPORTED_REVISION,
    BadMessage,
    Message,
    Refusal,
    Request,
    RequestId,
    Result,
    read_message,
)
from tejat.workspace.http.serving import HttpRequest, Reply, serve
from tejat.workspace.http.serving import Refused as HttpRefused

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"

_MOST_SESSIONS = 32
_SESSION_SECONDS = 1800.0
_ALIVE_SECONDS = 15.0
_LEAVE_SECONDS = 0.5
_MOST_WAITING = 64

_BAD_REQUEST = frozenset(
    {PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_REVISION}
)
_STREAM = (("content-type", "text/event-stream"), ("cache-control", "no-cache, no-transform"))
_JSON = (("content-type", "application/json"),)


async def serve_http(server: ToolServer, *, port: int, token: str, tell: Callable[[int], None]) -> None:
    """Listen on this port, 0 for any that is free, until the task is cancelled; `tell` is told which one it is.

    However it ends, nothing runs any more after it. Raises OSError where nobody can listen there.
    """
    endpoint = Endpoint(server, token=token)
    serving = await serve(endpoint.handle, port=port)
    endpoint.port = serving.port
    try:
        tell(serving.port)
        await asyncio.get_running_loop().create_future()
    finally:
        await serving.close(patience=_LEAVE_SECONDS)
        await endpoint.close()


class Endpoint:
    """Handles the requests of a server that listens on `port` of this machine and nowhere else.

    Who does not know the token gets nothing, and so does whoever was led here by another name than that of this
    machine: a page in a browser is.
    """

    def __init__(self, server: ToolServer, *, token: str) -> None:
        self.port = 0
        self._server = server
        self._token = token
        self._sessions: dict[str, _Session] = {}

    async def handle(self, request: HttpRequest) -> Reply:
        """Raises the Refused of the HTTP server."""
        self._check_way_here(request)
        if request.path != PATH:
            raise HttpRefused(404, f"There is nothing here. The address ends with {PATH}.")
        self._check_token(request)
        await self._let_expire()
        match request.method:
            case "POST":
                return await self._post(request)
            case "DELETE":
                return await self._delete(request)
            case _:
                raise HttpRefused(405, "Only POST and DELETE are known here.", (("allow", "POST, DELETE"),))

    async def close(self) -> None:
        """End all sessions and what runs in them."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.client.close()

    def _check_way_here(self, request: HttpRequest) -> None:
        names = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        hosts = request.headers.get_all("host")
        if len(hosts) != 1 or hosts[0].lower() not in names:
            raise HttpRefused(421, "This server does not answer to that name.")
        origins = request.headers.get_all("origin")
        if any(origin.lower() not in {f"http://{name}" for name in names} for origin in origins):
            raise HttpRefused(403, "This server does not answer to pages from elsewhere.")

    def _check_token(self, request: HttpRequest) -> None:
        given = request.headers.get_all("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        # Compared as bytes: texts that are not ASCII cannot be compared in constant time.
        is_right = secrets.compare_digest(token.strip().encode("utf-8", "replace"), self._token.encode())
        if scheme.lower() != "bearer" or not is_right:
            challenge = ("www-authenticate", 'Bearer realm="tejat"')
            raise HttpRefused(
                401, "The token is missing or wrong. It was told when the server was started.", (challenge,)
            )

    async def _let_expire(self) -> None:
        now = time.monotonic()
        for name, session in list(self._sessions.items()):
            if session.client.is_idle and now - session.last_used > _SESSION_SECONDS:
                del self._sessions[name]
                await session.client.close()

    async def _post(self, request: HttpRequest) -> Reply:
        _check_types(request)
        try:
            message = read_message(load_json((await request.read()).decode(), most_inner=MOST_INNER))
        except (NotJson, UnicodeDecodeError) as error:
            return _error(None, PARSE_ERROR, f"This is not JSON: {error}.")
        except BadMessage as error:
            return _error(error.id, INVALID_REQUEST, f"This is no message: {error}.")
        revision = request.headers.get(REVISION_HEADER)
        is_of_handshake = revision is None or revision in HANDSHAKE_REVISIONS
        if isinstance(message, Request) and (has_envelope(message) or not is_of_handshake):
            try:
                envelope = read_envelope(message, request.headers.items())
            except Refused as refused:
                return _error(message.id, refused.code, refused.message, refused.data)
            return await self._exchange(Client(self._server), message, envelope)
        if is_of_handshake:
            return await self._in_session(request, message)
        if revision not in STATELESS_REVISIONS:
            refused = unsupported(str(revision))
            return _error(None, refused.code, refused.message, refused.data)
        return Reply(202)  # nothing that a client could tell here concerns another request

    async def _in_session(self, request: HttpRequest, message: Message) -> Reply:
        name = request.headers.get(SESSION_HEADER)
        if name is None and isinstance(message, Request) and message.method == "initialize":
            return await self._begin(message)
        if name is None:
            return _error(_id_of(message), INVALID_REQUEST, f"The header {SESSION_HEADER} is missing.")
        session = self._sessions.get(name)
        if session is None:
            return _error(_id_of(message), INVALID_REQUEST, "This session is over, or never was.", status=404)
        session.last_used = time.monotonic()
        if isinstance(message, Request):
            return await self._exchange(session.client, message)
        session.client.heard(message)
        return Reply(202)

    async def _begin(self, message: Request) -> Reply:
        if len(self._sessions) >= _MOST_SESSIONS:
            return _error(message.id, INTERNAL_ERROR, "Too many sessions. End one of them first.", status=503)
        session = _Session(Client(self._server))
        reply = await self._exchange(session.client, message)
        if session.client.revision is None:
            return reply
        name = secrets.token_urlsafe(24)
        self._sessions[name] = session
        return Reply(reply.status, (*reply.headers, (SESSION_HEADER, name)), reply.body)

    async def _delete(self, request: HttpRequest) -> Reply:
        session = self._sessions.pop(request.headers.get(SESSION_HEADER) or "", None)
        if session is None:
            raise HttpRefused(404, "This session is over, or never was.")
        await session.client.close()
        return Reply(204)

    async def _exchange(self, client: Client, request: Request, envelope: Envelope | None = None) -> Reply:
        """One JSON text where the answer is all there is to tell, else a stream that ends with it."""
        outgoing = _Outgoing(client, request, envelope)
        try:
            first = await outgoing.next()
        except BaseException:
            await outgoing.close()
            raise
        if isinstance(first, Result | Refusal):
            await outgoing.close()
            status = 200 if envelope is None else _status(first)
            return Reply(status, _JSON, encoded(first))
        return Reply(200, _STREAM, pieces=_Events(first, outgoing))


class _Session:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.last_used = time.monotonic()


class _Outgoing:
    """What is told about one request while it is answered. Whoever stops listening calls it off."""

    def __init__(self, client: Client, request: Request, envelope: Envelope | None) -> None:
        self._waiting: asyncio.Queue[Message | None] = asyncio.Queue(_MOST_WAITING)
        self._task = asyncio.create_task(self._answer(client, request, envelope))

    async def next(self) -> Message | None:
        """The next message; None where there is none for a while, or none any more: see `is_over`."""
        try:
            async with asyncio.timeout(_ALIVE_SECONDS):
                return await self._waiting.get()
        except TimeoutError:
            return None

    @property
    def is_over(self) -> bool:
        return self._task.done() and self._waiting.empty()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _answer(self, client: Client, request: Request, envelope: Envelope | None) -> None:
        await client.request(request, self._waiting.put, envelope)
        await self._waiting.put(None)


class _Events:
    """A stream of what is told about a request, from its first message to the answer."""

    def __init__(self, first: Message | None, outgoing: _Outgoing) -> None:
        self._first = first
        self._outgoing = outgoing

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        message = self._first
        while True:
            # A line that means nothing keeps whoever is in between from closing a silent connection.
            yield b": still at it\n\n" if message is None else b"event: message\ndata: " + encoded(message) + b"\n"
            if isinstance(message, Result | Refusal) or self._outgoing.is_over:
                return
            message = await self._outgoing.next()

    async def aclose(self) -> None:
        await self._outgoing.close()


def _check_types(request: HttpRequest) -> None:
    content = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if content != "application/json":
        raise HttpRefused(415, "The body must be application/json.")
    accepted = {
        part.partition(";")[0].strip().lower() for line in request.headers.get_all("accept") for part in line.split(",")
    }
    wanted = ({"application/json", "application/*", "*/*"}, {"text/event-stream", "text/*", "*/*"})
    if any(accepted.isdisjoint(each) for each in wanted):
        raise HttpRefused(406, "The client must accept application/json and text/event-stream.")


def _id_of(message: Message) -> RequestId | None:
    return message.id if isinstance(message, Request) else None


def _status(answer: Result | Refusal) -> int:
    if isinstance(answer, Result):
        return 200
    if answer.code == METHOD_NOT_FOUND:
        return 404
    return 400 if answer.code in _BAD_REQUEST else 200


def _error(
    request_id: RequestId | None, code: int, message: str, data: JsonValue = None, *, status: int = 400
) -> Reply:
    return Reply(status, _JSON, encoded(Refusal(request_id, code, message, data)))

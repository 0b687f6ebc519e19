"""Small HTTP/1.1 server with one handler, streamed responses, and limits on everything."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Protocol, TypeAlias

import h11

from tejat.core.frozen import Frozen, field
from tejat.workspace.http.types import Headers

_BLOCK = 65_536
_LINGER_SECONDS = 1.0
_CLOSE_SECONDS = 2.0


class ServerLimits(Frozen):
    """Limits of a server in bytes and seconds.

    `idle_seconds` is the time between two requests of a connection, `head_seconds` and `body_seconds` the time for a
    request to arrive, the first one also to begin, `write_seconds` the time in which a client must accept data. When
    all `connections` are taken, one that waits for a request makes room for the next.
    """

    connections: int = 64
    head: int = 65_536
    body: int = 16 * 2**20
    idle_seconds: float = 120.0
    head_seconds: float = 20.0
    body_seconds: float = 60.0
    write_seconds: float = 60.0


class HttpError(Exception):
    """An error response with this status and text."""

    def __init__(self, status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


class BodyStream(Protocol):
    """Streamed rest of a response. `aclose` is always called, even if nothing was consumed."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class ServerResponse(Frozen):
    """A response. `stream`, if any, is sent chunk by chunk after `body`."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    stream: BodyStream | None = field(default=None, repr=False, compare=False)


class ServerRequest:
    """A request whose body has yet to be read."""

    __slots__ = ("_read", "headers", "method", "target")

    def __init__(self, method: str, target: str, headers: Headers, read: Callable[[], Awaitable[bytes]]) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self._read = read

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    async def read(self) -> bytes:
        """Return the whole body; it can be read once. Raises HttpError if it is too long, too slow or incomplete.

        An unread body ends the connection.
        """
        return await self._read()


RequestHandler: TypeAlias = Callable[[ServerRequest], Awaitable[ServerResponse]]
"""Answers a request.

It is cancelled when the client disconnects. It may raise HttpError; any other exception becomes an internal error
without details.
"""


async def serve(
    handler: RequestHandler, *, host: str = "127.0.0.1", port: int = 0, limits: ServerLimits | None = None
) -> "HttpServer":
    """Start a server; port 0 picks a free one. Raises OSError."""
    serving = HttpServer(handler, limits or ServerLimits())
    await serving.listen(host, port)
    return serving


class HttpServer:
    """A running server. `port` is where it listens."""

    def __init__(self, handler: RequestHandler, limits: ServerLimits) -> None:
        self.port = 0
        self._handler = handler
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], _ServerConnection] = {}
        self._is_closing = False

    async def listen(self, host: str, port: int) -> None:
        self._server = await asyncio.start_server(self._serve_connection, host, port, limit=_BLOCK)
        self.port = self._server.sockets[0].getsockname()[1]

    async def listen_on(self, listener: socket.socket, context: "ssl.SSLContext | None" = None) -> None:
        """Listen on a bound socket, with TLS if there is a context for it."""
        self._server = await asyncio.start_server(self._serve_connection, sock=listener, ssl=context, limit=_BLOCK)
        self.port = listener.getsockname()[1]

    async def close(self, *, grace_seconds: float = _CLOSE_SECONDS) -> None:
        """Accept no more requests; running ones have `grace_seconds` left."""
        self._is_closing = True
        if self._server is not None:
            self._server.close()
        for task, connection in self._connections.items():
            connection.is_last = True
            if not connection.is_busy:
                task.cancel()
        for limit in (grace_seconds, _CLOSE_SECONDS):
            if self._connections:
                await asyncio.wait(self._connections, timeout=limit)
            for task in self._connections:
                task.cancel()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= 2 * self._limits.connections:
            writer.transport.abort()  # too many even for an error response
            return
        connection = _ServerConnection(reader, writer, self._handler, self._limits)
        is_full = self._is_closing or not self._make_room()
        self._connections[task] = connection
        try:
            await (connection.reject() if is_full else connection.run())
        except asyncio.CancelledError:
            pass  # the server is closing, and asyncio would log a cancelled connection
        except Exception:  # noqa: BLE001 -- an answer that cannot go on is cut off, and there is nobody to tell
            writer.transport.abort()
        finally:
            del self._connections[task]
            writer.close()

    def _make_room(self) -> bool:
        """Return whether another connection may be served. If necessary, one that waits for a request is closed.

        Whoever opens connections and stays silent must not lock out others: those that never sent a request go first.
        """
        served = [(task, each) for task, each in self._connections.items() if not each.is_evicted]
        if len(served) < self._limits.connections:
            return True
        waiting = [(each.has_answered, each.waiting_since, task, each) for task, each in served if not each.is_busy]
        if not waiting:
            return False
        *_, task, evicted = min(waiting, key=lambda entry: entry[:2])
        evicted.is_evicted = True
        task.cancel()
        return True


class _ClientGone(Exception):
    """The client has disconnected or was silent for too long."""


class _ServerConnection:
    """One connection: requests are answered one after the other."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: RequestHandler, limits: ServerLimits
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self._limits = limits
        self._machine = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
        self._is_read = asyncio.Event()
        self._wants_head_only = False
        self.is_busy = False
        self.is_last = False
        self.is_evicted = False
        self.has_answered = False
        self.waiting_since = time.monotonic()

    async def run(self) -> None:
        """Serve requests until the connection ends. Raises OSError if the client accepts no data."""
        with suppress(_ClientGone):
            while not self.is_last:
                try:
                    request = await self._next_request()
                except HttpError as error:
                    await self._send(_error_response(error), last=True)
                    break
                self.is_busy = True
                await self._handle_request(request)
                self.is_busy, self.has_answered, self.waiting_since = False, True, time.monotonic()
                if self._machine.our_state is not h11.DONE or self._machine.their_state is not h11.DONE:
                    break
                self._machine.start_next_cycle()
        await self._linger()

    async def reject(self) -> None:
        """Answer a prompt request with 503; do not wait for other clients."""
        with suppress(_ClientGone, HttpError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._next_request()
                await self._send(_error_response(HttpError(503, "Too many connections.")), last=True)

    async def _next_request(self) -> ServerRequest:
        """Raises HttpError and _ClientGone."""
        self._is_read.clear()
        first_byte_seconds = self._limits.idle_seconds if self.has_answered else self._limits.head_seconds
        event = await self._next_event(first_byte_seconds, max_reads=1)
        if event is h11.NEED_DATA:
            event = await self._next_event(self._limits.head_seconds)
        if not isinstance(event, h11.Request):
            raise _ClientGone
        pairs = tuple((name.decode("latin-1"), text.decode("latin-1")) for name, text in event.headers.raw_items())
        if sum(len(name) + len(text) for name, text in pairs) > self._limits.head:
            raise HttpError(431, "Too many headers.")
        self._wants_head_only = event.method == b"HEAD"
        target = bytes(event.target).decode("latin-1")
        return ServerRequest(bytes(event.method).decode("latin-1"), target, Headers(pairs), self._read_body)

    async def _next_event(self, seconds: float, *, max_reads: int | None = None) -> object:
        """Return the next event, or NEED_DATA after `max_reads` blocks. Raises HttpError and _ClientGone."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    event = self._machine.next_event()
                    if event is not h11.NEED_DATA or max_reads == 0:
                        return event
                    max_reads = None if max_reads is None else max_reads - 1
                    self._machine.receive_data(await self._reader.read(_BLOCK))
        except OSError:  # TimeoutError is one, too
            raise _ClientGone from None
        except h11.RemoteProtocolError as error:
            # The message of h11 quotes the client at any length.
            status = error.error_status_hint
            raise HttpError(status, "This is not HTTP/1.1." if status == 400 else _reason(status)) from None

    async def _read_body(self) -> bytes:
        if self._machine.they_are_waiting_for_100_continue:
            go_on = self._machine.send(h11.InformationalResponse(status_code=100, headers=[]))
            await self._write(go_on or b"")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.body_seconds
        pieces: list[bytes] = []
        size = 0
        try:
            while isinstance(event := await self._next_event(deadline - loop.time()), h11.Data):
                size += len(event.data)
                if size > self._limits.body:
                    raise HttpError(413, f"The body is longer than {self._limits.body} bytes.")
                pieces.append(bytes(event.data))
        except _ClientGone:
            raise HttpError(408, "The body did not come in time.") from None
        if not isinstance(event, h11.EndOfMessage):
            raise HttpError(400, "The body was broken off.")
        self._is_read.set()
        return b"".join(pieces)

    async def _handle_request(self, request: ServerRequest) -> None:
        """Answer one request, unless the client disconnects first. Raises _ClientGone."""
        handling = asyncio.create_task(self._answer(request))
        watching = asyncio.create_task(self._wait_for_disconnect())
        try:
            await asyncio.wait((handling, watching), return_when=asyncio.FIRST_COMPLETED)
            if not handling.done():
                raise _ClientGone
        finally:
            await _cancel_and_wait(watching)
            await _cancel_and_wait(handling)
        handling.result()

    async def _wait_for_disconnect(self) -> None:
        """Return when the client disconnects or pipelines too much; keep other data for later."""
        await self._is_read.wait()
        held = 0
        with suppress(OSError):
            while held <= self._limits.head and (data := await self._reader.read(_BLOCK)):
                held += len(data)
                self._machine.receive_data(data)

    async def _answer(self, request: ServerRequest) -> None:
        try:
            if not request.headers.get("content-length") and not request.headers.get("transfer-encoding"):
                await self._read_body()  # there is none; this completes the request
            response = await self._handler(request)
        except HttpError as error:
            response = _error_response(error)
        except Exception:  # noqa: BLE001 -- whatever it was, it is none of the client's business
            response = _error_response(HttpError(500, "Something went wrong here."))
        await self._send(response)

    async def _send(self, response: ServerResponse, *, last: bool = False) -> None:
        """Send the whole response as it is produced. Raises OSError if the client accepts no data."""
        try:
            headers = [("date", formatdate(usegmt=True)), *response.headers]
            if response.stream is None and response.status != HTTPStatus.NO_CONTENT:
                headers.append(("content-length", str(len(response.body))))
            if last or self.is_last or self._machine.their_state is not h11.DONE:
                headers.append(("connection", "close"))
            head = h11.Response(status_code=response.status, headers=headers, reason=_reason(response.status).encode())
            await self._write(self._machine.send(head) or b"")
            await self._send_body(response.body)
            if response.stream is not None:
                async for piece in response.stream:
                    await self._send_body(piece)
            await self._write(self._machine.send(h11.EndOfMessage()) or b"")
        finally:
            if response.stream is not None:
                await response.stream.aclose()

    async def _send_body(self, body: bytes) -> None:
        if self._wants_head_only:
            return
        for start in range(0, len(body), _BLOCK):
            await self._write(self._machine.send(h11.Data(data=body[start : start + _BLOCK])) or b"")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        async with asyncio.timeout(self._limits.write_seconds):
            await self._writer.drain()

    async def _linger(self) -> None:
        """Read for a moment what still arrives: closing earlier may lose the response on its way."""
        with suppress(OSError, RuntimeError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._reader.read(_BLOCK):
                    pass


async def _cancel_and_wait(task: "asyncio.Task[None]") -> None:
    """Cancel a task and wait for its end, whatever it raises."""
    task.cancel()
    await asyncio.wait((task,))


def _error_response(error: HttpError) -> ServerResponse:
    headers = (("content-type", "text/plain; charset=utf-8"), *error.headers)
    return ServerResponse(error.status, headers, f"{error.message}\n".encode())


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""

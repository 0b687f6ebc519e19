"""One HTTP/1.1 connection for one or more requests."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tejat.core.i18n import lazy
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.response_parser import ProtocolViolation, ResponseHead, ResponseParser
from tejat.workspace.http.stream import SocketStream
from tejat.workspace.http.types import Headers, HttpFailure, HttpFailureKind, HttpResponse, body_too_large

_MAX_JOINED_CHUNK = 16_384
_BLOCK = 1 << 20
_MAX_INTERIM_RESPONSES = 100


class OutgoingRequest:
    """A request with legal characters and a Content-Length header. It has no repr: it may hold secrets."""

    __slots__ = ("headers", "method", "target")

    def __init__(self, method: str, target: str, headers: Sequence[tuple[str, str]]) -> None:
        self.method = method
        self.target = target
        self.headers = headers

    def head(self) -> bytes:
        """The bytes before the body. Raises ValueError for a character that would end a line or a word."""
        words = (self.method, self.target, *(text for header in self.headers for text in header))
        if not all(text.isascii() and text.isprintable() for text in words) or " " in self.method + self.target:
            raise ValueError("The request has an illegal character.")
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


class HttpConnection:
    """A connection that is ready for its next request. Only one task uses it at a time."""

    def __init__(self, stream: SocketStream, *, where: str) -> None:
        self.stream = stream
        self.server = where
        self.has_received_bytes = False
        self._parser: ResponseParser | None = None
        self._response: ResponseHead | None = None
        self._is_sent = False
        self._interim_responses = 0

    def is_reusable(self) -> bool:
        """Return whether request and response are complete, keep-alive is agreed, and no unexpected data came.

        Readers who know from the content that it is complete may stop before the end of the body; the end is looked for
        here, if it has arrived.
        """
        parser = self._parser
        if parser is None:
            return False
        with suppress(HttpFailure):
            if parser.is_in_body:
                self._next_event(parser)
        return self._is_sent and parser.can_be_followed and self.is_idle

    @property
    def is_idle(self) -> bool:
        return not self.stream.has_data and not self.stream.at_eof

    @property
    def has_trailing_data(self) -> bool:
        """Whether data came after the response."""
        return (self._parser is not None and self._parser.has_trailing_data) or self.stream.has_data

    async def send(self, request: OutgoingRequest, body: Sequence[bytes], deadline: RequestDeadline) -> HttpResponse:
        """Send the request and wait for the head of the response. Raises HttpFailure."""
        parser = self._parser = ResponseParser(request.method, max_head=deadline.limits.headers)
        self._response = None
        self._is_sent = False
        self._interim_responses = 0
        self.has_received_bytes = False
        await self._write_request(parser, request, body, deadline)
        response = await self._wait_for_head(parser, deadline)
        return HttpResponse(
            status=response.status,
            reason=response.reason,
            headers=Headers(tuple(response.headers)),
            body=ResponseBody(self, deadline),
            server=self.server,
        )

    async def read_chunk(self, deadline: RequestDeadline) -> bytes | None:
        """Return what has arrived of the body, None at its end. Raises HttpFailure."""
        assert self._parser is not None
        until = deadline.until(deadline.limits.idle)
        while (event := self._next_event(self._parser)) is None:
            await self._wait(until, HttpFailureKind.TIMED_OUT_IDLE, deadline)
        assert isinstance(event, bytes)
        return event or None

    async def _write_request(
        self, parser: ResponseParser, request: OutgoingRequest, body: Sequence[bytes], deadline: RequestDeadline
    ) -> None:
        """Write the request, unless the server disconnects or answers before the end."""
        for block in _write_blocks(request.head(), body):
            self.stream.write(block)
            until = deadline.until(deadline.limits.idle)
            while not self.stream.can_write and not self.stream.at_eof:
                await self._wait(until, HttpFailureKind.TIMED_OUT_IDLE, deadline)
                if self._poll_response_head(parser) is not None:
                    return
            if self.stream.at_eof:
                return
        self._is_sent = True

    async def _wait_for_head(self, parser: ResponseParser, deadline: RequestDeadline) -> ResponseHead:
        until = deadline.until(deadline.limits.first_byte)
        while (response := self._poll_response_head(parser)) is None:
            await self._wait(until, HttpFailureKind.TIMED_OUT_FIRST_BYTE, deadline)
        size = len(response.reason) + sum(len(name) + len(value) + 4 for name, value in response.headers)
        if size > deadline.limits.headers:
            raise HttpFailure(lazy("{where} sent too many headers.", where=self.server), HttpFailureKind.TOO_LARGE)
        return response

    async def _wait(self, until: float | None, kind: HttpFailureKind, deadline: RequestDeadline) -> None:
        deadline.check(until, kind)
        await self.stream.wait(until)

    def _poll_response_head(self, parser: ResponseParser) -> ResponseHead | None:
        """Return the response head if it has arrived, skipping interim responses."""
        while self._response is None:
            head = self._next_event(parser)
            if head is None:
                return None
            assert isinstance(head, ResponseHead)
            if head.status >= 200:
                self._response = head
                continue
            self._interim_responses += 1
            if self._interim_responses > _MAX_INTERIM_RESPONSES:
                message = lazy("{where} keeps delaying its response.", where=self.server)
                raise HttpFailure(message, HttpFailureKind.PROTOCOL)
        return self._response

    def _next_event(self, parser: ResponseParser) -> ResponseHead | bytes | None:
        """Return the next event of the parser. None means that nothing more has arrived. Raises HttpFailure."""
        try:
            while (event := parser.next_event()) is None:
                if self.stream.has_data:
                    self.has_received_bytes = True
                    parser.receive(self.stream.read_available())
                elif not self.stream.at_eof:
                    return None
                elif not parser.ends_with_connection or self.stream.error is not None:
                    raise self._closed_failure()
                else:
                    parser.finish()
        except ProtocolViolation as violation:
            is_too_large = violation.is_too_large
        else:
            return event
        if is_too_large:
            raise HttpFailure(lazy("{where} sent too many headers.", where=self.server), HttpFailureKind.TOO_LARGE)
        raise HttpFailure(lazy("{where} did not respond with HTTP/1.1.", where=self.server), HttpFailureKind.PROTOCOL)

    def _closed_failure(self) -> HttpFailure:
        if isinstance(self.stream.error, ssl.SSLError):
            why = ssl_error_text(self.stream.error)
            message = lazy("{where} closed the TLS connection: {why}.", where=self.server, why=why)
            return HttpFailure(message, HttpFailureKind.TLS)
        if self._response is None:
            message = lazy("{where} closed the connection before responding.", where=self.server)
        else:
            message = lazy("{where} closed the connection in the middle of the response.", where=self.server)
        return HttpFailure(message, HttpFailureKind.DISCONNECTED)


class ResponseBody:
    """Chunks of a response body as they arrive."""

    def __init__(self, connection: HttpConnection, deadline: RequestDeadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._size = 0
        self._is_finished = False

    def __aiter__(self) -> "ResponseBody":
        return self

    async def __anext__(self) -> bytes:
        if self._is_finished:
            raise StopAsyncIteration
        self._deadline.check(None, HttpFailureKind.TIMED_OUT_TOTAL)
        piece = await self._connection.read_chunk(self._deadline)
        if piece is None:
            self._is_finished = True
            raise StopAsyncIteration
        self._size += len(piece)
        limit = self._deadline.limits.body
        if limit is not None and self._size > limit:
            raise body_too_large(self._connection.server, limit)
        return piece


def ssl_error_text(error: "ssl.SSLError") -> str:
    return error.reason.replace("_", " ").lower() if error.reason else lazy("unknown reason")


def _write_blocks(head: bytes, body: Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """Yield the bytes in medium-sized blocks: small chunks are joined, large ones are not copied."""
    waiting = [head]
    size = len(head)
    for piece in body:
        if size + len(piece) > _MAX_JOINED_CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
        if len(piece) > _MAX_JOINED_CHUNK:
            view = memoryview(piece)
            yield from (view[start : start + _BLOCK] for start in range(0, len(piece), _BLOCK))
            continue
        waiting.append(piece)
        size += len(piece)
    if waiting:
        yield b"".join(waiting)

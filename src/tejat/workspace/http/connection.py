"""One HTTP/1.1 connection for one or more requests."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

import h11

from tejat.core.i18n import lazy
from tejat.workspace.http.chunks import BadChunk, ChunkDecoder
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.stream import SocketStream
from tejat.workspace.http.types import Headers, HttpFailure, HttpFailureKind, HttpResponse, body_too_large

_MAX_JOINED_CHUNK = 16_384
_BLOCK = 1 << 20
_MAX_INTERIM_RESPONSES = 100
_HEAD_END = b"\r\n\r\n"


class OutgoingRequest:
    """A request with legal characters and a Content-Length header. It has no repr: it may hold secrets."""

    __slots__ = ("headers", "method", "target")

    def __init__(self, method: str, target: str, headers: Sequence[tuple[str, str]]) -> None:
        self.method = method
        self.target = target
        self.headers = headers


class HttpConnection:
    """A connection that is ready for its next request. Only one task uses it at a time."""

    def __init__(self, stream: SocketStream, *, where: str) -> None:
        self.stream = stream
        self.server = where
        self.has_received_bytes = False
        self._machine = h11.Connection(h11.CLIENT)
        self._response: h11.Response | None = None
        self._interim_responses = 0
        self._backlog = b""
        """What was received and not given to h11 yet."""
        self._chunks: ChunkDecoder | None = None

    def is_reusable(self) -> bool:
        """Return whether request and response are complete, keep-alive is agreed, and no unexpected data came.

        Readers who know from the content that it is complete may stop before the end of the body; the end is looked for
        here, if it has arrived.
        """
        with suppress(HttpFailure):
            if self._machine.their_state is h11.SEND_BODY and not (self._chunks and self._decode_chunks()):
                self._next_event()
        return (
            self._machine.our_state is h11.DONE
            and self._machine.their_state is h11.DONE
            and self._machine.trailing_data == (b"", False)
            and self.is_idle
        )

    @property
    def is_idle(self) -> bool:
        return not self._has_input and not self.stream.at_eof

    @property
    def has_trailing_data(self) -> bool:
        """Whether data came after the response."""
        return bool(self._machine.trailing_data[0]) or self._has_input

    @property
    def _has_input(self) -> bool:
        return bool(self._backlog) or self.stream.has_data

    async def send(self, request: OutgoingRequest, body: Sequence[bytes], deadline: RequestDeadline) -> HttpResponse:
        """Send the request and wait for the head of the response. Raises HttpFailure."""
        self._machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=deadline.limits.headers)
        self._response = None
        self._interim_responses = 0
        self._chunks = None
        self.has_received_bytes = False
        await self._write_request(request, body, deadline)
        response = await self._wait_for_head(deadline)
        headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw_items())
        return HttpResponse(
            status=response.status_code,
            reason=bytes(response.reason).decode("latin-1"),
            headers=Headers(tuple(headers)),
            body=ResponseBody(self, deadline),
            server=self.server,
        )

    async def read_chunk(self, deadline: RequestDeadline) -> bytes | None:
        """Return what has arrived of the body, None at its end. Raises HttpFailure."""
        until = deadline.until(deadline.limits.idle)
        while True:
            if self._chunks is not None and self._has_input:
                if content := self._decode_chunks():
                    return content
                continue
            event = self._next_event()
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if isinstance(event, h11.EndOfMessage):
                return None
            if event is h11.NEED_DATA:
                await self._wait(until, HttpFailureKind.TIMED_OUT_IDLE, deadline)
                continue
            raise HttpFailure(lazy("{where} violated the HTTP protocol.", where=self.server), HttpFailureKind.PROTOCOL)

    async def _write_request(self, request: OutgoingRequest, body: Sequence[bytes], deadline: RequestDeadline) -> None:
        """Write the request, unless the server disconnects or answers before the end."""
        event_to_send = h11.Request(method=request.method, target=request.target, headers=list(request.headers))
        head = self._machine.send(event_to_send) or b""
        for block in _write_blocks(head, body):
            self.stream.write(block)
            until = deadline.until(deadline.limits.idle)
            while not self.stream.can_write and not self.stream.at_eof:
                await self._wait(until, HttpFailureKind.TIMED_OUT_IDLE, deadline)
                if self._poll_response_head() is not None:
                    return
            if self.stream.at_eof:
                return
        self._machine.send_with_data_passthrough(h11.Data(data=cast("bytes", _SentBody(body))))
        self._machine.send(h11.EndOfMessage())

    async def _wait_for_head(self, deadline: RequestDeadline) -> h11.Response:
        until = deadline.until(deadline.limits.first_byte)
        while (response := self._poll_response_head()) is None:
            await self._wait(until, HttpFailureKind.TIMED_OUT_FIRST_BYTE, deadline)
        size = len(response.reason) + sum(len(name) + len(value) + 4 for name, value in response.headers)
        if size > deadline.limits.headers:
            raise HttpFailure(lazy("{where} sent too many headers.", where=self.server), HttpFailureKind.TOO_LARGE)
        return response

    async def _wait(self, until: float | None, kind: HttpFailureKind, deadline: RequestDeadline) -> None:
        deadline.check(until, kind)
        await self.stream.wait(until)

    def _poll_response_head(self) -> h11.Response | None:
        """Return the response head if it has arrived, skipping interim responses."""
        while self._response is None:
            event = self._next_event()
            if event is h11.NEED_DATA:
                return None
            if isinstance(event, h11.Response):
                self._response = event
                self._choose_decoder(event)
            elif isinstance(event, h11.InformationalResponse) and event.status_code != 101:
                self._interim_responses += 1
                if self._interim_responses > _MAX_INTERIM_RESPONSES:
                    message = lazy("{where} keeps delaying its response.", where=self.server)
                    raise HttpFailure(message, HttpFailureKind.PROTOCOL)
            else:
                raise HttpFailure(
                    lazy("{where} violated the HTTP protocol.", where=self.server), HttpFailureKind.PROTOCOL
                )
        return self._response

    def _choose_decoder(self, response: h11.Response) -> None:
        """Decode a chunked body in bulk: h11 would take longer for each chunk than everything else together.

        h11 gets the rest from the last chunk on. It must not have begun with the body.
        """
        is_chunked = any(name == b"transfer-encoding" for name, _value in response.headers)
        has_begun = self._machine.their_state is not h11.SEND_BODY or self._machine.trailing_data[0]
        self._chunks = ChunkDecoder() if is_chunked and not has_begun else None

    def _decode_chunks(self) -> bytes:
        """Return the content of what has arrived. Raises HttpFailure."""
        assert self._chunks is not None
        decoded = None
        with suppress(BadChunk):
            decoded = self._chunks.feed(self._take_input())
        if decoded is None:
            raise self._not_http()
        content, rest = decoded
        if rest is not None:
            self._backlog, self._chunks = rest, None
        return content

    def _take_input(self) -> bytes:
        """Return what has arrived. The head of a response comes without the beginning of its body."""
        data, self._backlog = self._backlog or self.stream.read_available(), b""
        self.has_received_bytes = True
        if self._response is None:
            end = data.find(_HEAD_END) + len(_HEAD_END)
            if len(_HEAD_END) <= end < len(data):
                data, self._backlog = data[:end], data[end:]
        return data

    def _next_event(self) -> "h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]":
        """Return the next event. NEED_DATA means that nothing more has arrived; EOF is an event or a failure."""
        has_ended = False
        kind = None
        try:
            while (event := self._machine.next_event()) is h11.NEED_DATA:
                if self._has_input:
                    self._machine.receive_data(self._take_input())
                elif not self.stream.at_eof:
                    return h11.NEED_DATA
                elif has_ended or self.stream.error is not None:
                    raise self._closed_failure()
                else:
                    has_ended = True
                    self._machine.receive_data(b"")
        except h11.RemoteProtocolError as error:
            # The message of h11 quotes the server at any length.
            kind = HttpFailureKind.TOO_LARGE if error.error_status_hint == 431 else HttpFailureKind.PROTOCOL
        else:
            if isinstance(event, h11.ConnectionClosed):
                raise self._closed_failure()
            return event
        if has_ended:
            raise self._closed_failure()
        if kind is HttpFailureKind.TOO_LARGE:
            raise HttpFailure(lazy("{where} sent too many headers.", where=self.server), kind)
        raise self._not_http()

    def _not_http(self) -> HttpFailure:
        message = lazy("{where} did not respond with HTTP/1.1.", where=self.server)
        return HttpFailure(message, HttpFailureKind.PROTOCOL)

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


def ssl_error_text(error: ssl.SSLError) -> str:
    return error.reason.replace("_", " ").lower() if error.reason else lazy("unknown reason")


class _SentBody:
    """Stand-in for a body that was sent past h11, which only needs its length."""

    def __init__(self, body: Sequence[bytes]) -> None:
        self._length = sum(map(len, body))

    def __len__(self) -> int:
        return self._length


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

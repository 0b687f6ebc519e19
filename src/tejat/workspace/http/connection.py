"""One HTTP/1.1 connection: a request goes out, a response comes back, perhaps more than once."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

import h11

from tejat.core.words import phrase
from tejat.workspace.http.patience import Patience
from tejat.workspace.http.values import Headers, HttpFailure, HttpProblem, HttpResponse
from tejat.workspace.http.wire import Wire

_SMALL = 16_384
_BLOCK = 1 << 20
_MOST_INTERIM_RESPONSES = 100


class Request:
    """What to ask for: legal characters everywhere, and the length of the body in a header. It is never shown."""

    __slots__ = ("headers", "method", "target")

    def __init__(self, method: str, target: str, headers: Sequence[tuple[str, str]]) -> None:
        self.method = method
        self.target = target
        self.headers = headers


class Connection:
    """A connection that is ready for its next request. One task uses it at a time."""

    def __init__(self, wire: Wire, *, where: str) -> None:
        self.wire = wire
        self.where = where
        self.has_heard = False
        self._machine = h11.Connection(h11.CLIENT)
        self._response: h11.Response | None = None
        self._interim_responses = 0

    def can_be_reused(self) -> bool:
        """Whether request and response are over, both sides want to go on, and nothing came that nobody asked for.

        A reader who knows from the content that it is complete need not look for the end of the body: it is looked for
        here, as far as it has come.
        """
        with suppress(HttpFailure):
            if self._machine.their_state is h11.SEND_BODY:
                self._next_event()
        return (
            self._machine.our_state is h11.DONE
            and self._machine.their_state is h11.DONE
            and self._machine.trailing_data == (b"", False)
            and self.is_quiet
        )

    @property
    def is_quiet(self) -> bool:
        return not self.wire.has_received and not self.wire.has_ended

    @property
    def has_more(self) -> bool:
        """Whether something came after the response."""
        return bool(self._machine.trailing_data[0]) or self.wire.has_received

    async def exchange(self, request: Request, body: Sequence[bytes], patience: Patience) -> HttpResponse:
        """Send the request and wait for the head of the response. Raises HttpFailure."""
        self._machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=patience.limits.headers)
        self._response = None
        self._interim_responses = 0
        self.has_heard = False
        await self._send(request, body, patience)
        response = await self._receive_head(patience)
        return HttpResponse(
            status=response.status_code,
            reason=bytes(response.reason).decode("latin-1"),
            headers=Headers(
                tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw_items())
            ),
            pieces=Body(self, patience),
            where=self.where,
        )

    async def piece(self, patience: Patience) -> bytes | None:
        """The next piece of the body, None at its end. Raises HttpFailure."""
        until = patience.until(patience.limits.idle)
        while True:
            event = self._next_event()
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if isinstance(event, h11.EndOfMessage):
                return None
            if event is h11.NEED_DATA:
                await self._wait(until, HttpProblem.TIMED_OUT_IDLE, patience)
                continue
            raise HttpFailure(phrase("{where} did not keep to HTTP.", where=self.where), HttpProblem.PROTOCOL)

    async def _send(self, request: Request, body: Sequence[bytes], patience: Patience) -> None:
        """Write everything, unless the server ends the conversation or answers before it has heard all."""
        asked = h11.Request(method=request.method, target=request.target, headers=list(request.headers))
        head = self._machine.send(asked) or b""
        for block in _blocks(head, body):
            self.wire.write(block)
            until = patience.until(patience.limits.idle)
            while not self.wire.can_write and not self.wire.has_ended:
                await self._wait(until, HttpProblem.TIMED_OUT_IDLE, patience)
                if self._look_for_head() is not None:
                    return
            if self.wire.has_ended:
                return
        self._machine.send_with_data_passthrough(h11.Data(data=cast("bytes", _Sent(body))))
        self._machine.send(h11.EndOfMessage())

    async def _receive_head(self, patience: Patience) -> h11.Response:
        until = patience.until(patience.limits.first_byte)
        while (response := self._look_for_head()) is None:
            await self._wait(until, HttpProblem.TIMED_OUT_FIRST_BYTE, patience)
        size = len(response.reason) + sum(len(name) + len(value) + 4 for name, value in response.headers)
        if size > patience.limits.headers:
            raise HttpFailure(phrase("{where} sent too many headers.", where=self.where), HttpProblem.TOO_LARGE)
        return response

    async def _wait(self, until: float | None, problem: HttpProblem, patience: Patience) -> None:
        patience.check(until, problem)
        await self.wire.wait(until)

    def _look_for_head(self) -> h11.Response | None:
        """The head of the response if it has come; what is said before it is skipped."""
        while self._response is None:
            event = self._next_event()
            if event is h11.NEED_DATA:
                return None
            if isinstance(event, h11.Response):
                self._response = event
            elif isinstance(event, h11.InformationalResponse) and event.status_code != 101:
                self._interim_responses += 1
                if self._interim_responses > _MOST_INTERIM_RESPONSES:
                    raise HttpFailure(
                        phrase("{where} keeps putting off its answer.", where=self.where), HttpProblem.PROTOCOL
                    )
            else:
                raise HttpFailure(phrase("{where} did not keep to HTTP.", where=self.where), HttpProblem.PROTOCOL)
        return self._response

    def _next_event(self) -> "h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]":
        """NEED_DATA means that nothing more has come yet; the end of the connection is an event or a failure."""
        has_ended = False
        problem = None
        try:
            while (event := self._machine.next_event()) is h11.NEED_DATA:
                if self.wire.has_received:
                    self.has_heard = True
                    self._machine.receive_data(self.wire.take())
                elif not self.wire.has_ended:
                    return h11.NEED_DATA
                elif has_ended or self.wire.error is not None:
                    raise self._cut()
                else:
                    has_ended = True
                    self._machine.receive_data(b"")
        except h11.RemoteProtocolError as error:
            # What h11 says quotes the server at any length.
            problem = HttpProblem.TOO_LARGE if error.error_status_hint == 431 else HttpProblem.PROTOCOL
        else:
            if isinstance(event, h11.ConnectionClosed):
                raise self._cut()
            return event
        if has_ended:
            raise self._cut()
        if problem is HttpProblem.TOO_LARGE:
            raise HttpFailure(phrase("{where} sent too many headers.", where=self.where), problem)
        raise HttpFailure(phrase("{where} answered with something that is not HTTP/1.1.", where=self.where), problem)

    def _cut(self) -> HttpFailure:
        if isinstance(self.wire.error, ssl.SSLError):
            return HttpFailure(
                phrase("{where} ended the TLS connection: {why}.", where=self.where, why=in_words(self.wire.error)),
                HttpProblem.TLS,
            )
        if self._response is None:
            return HttpFailure(
                phrase("{where} closed the connection before it answered.", where=self.where), HttpProblem.CUT
            )
        return HttpFailure(
            phrase("{where} closed the connection in the middle of its answer.", where=self.where), HttpProblem.CUT
        )


class Body:
    """The pieces of a response's body as they come."""

    def __init__(self, connection: Connection, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self._size = 0
        self._is_over = False

    def __aiter__(self) -> "Body":
        return self

    async def __anext__(self) -> bytes:
        if self._is_over:
            raise StopAsyncIteration
        self._patience.check(None, HttpProblem.TIMED_OUT_WHOLE)
        piece = await self._connection.piece(self._patience)
        if piece is None:
            self._is_over = True
            raise StopAsyncIteration
        self._size += len(piece)
        limit = self._patience.limits.body
        if limit is not None and self._size > limit:
            raise HttpFailure(
                phrase("{where} sent more than {limit} bytes.", where=self._connection.where, limit=limit),
                HttpProblem.TOO_LARGE,
            )
        return piece


def in_words(error: ssl.SSLError) -> str:
    return error.reason.replace("_", " ").lower() if error.reason else phrase("unknown reason")


class _Sent:
    """What h11 has to know of a body that it need not look at, piece by piece: how long it was."""

    def __init__(self, body: Sequence[bytes]) -> None:
        self._length = sum(map(len, body))

    def __len__(self) -> int:
        return self._length


def _blocks(head: bytes, body: Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """The same bytes in blocks that are neither tiny nor huge: small pieces are joined, large ones are not copied."""
    waiting = [head]
    size = len(head)
    for piece in body:
        if size + len(piece) > _SMALL:
            yield b"".join(waiting)
            waiting, size = [], 0
        if len(piece) > _SMALL:
            view = memoryview(piece)
            yield from (view[start : start + _BLOCK] for start in range(0, len(piece), _BLOCK))
            continue
        waiting.append(piece)
        size += len(piece)
    if waiting:
        yield b"".join(waiting)

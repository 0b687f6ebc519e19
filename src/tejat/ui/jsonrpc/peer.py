"""One side of a connection: JSON-RPC messages as lines, with requests in both directions."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Protocol, assert_never, cast

from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
    parse_message,
)
from tejat.mcp.transports.ndjson import EndlessLine, InvalidLine, NdjsonDecoder, UnencodableMessage, encode_message

MAX_MESSAGE_BYTES = 96 << 20
"""The longest message that is read or written."""
REQUEST_CANCELLED = -32800

_CANCEL_REQUEST = "$/cancel_request"
_MAX_REQUESTS = 1000
_MAX_WARNINGS = 20
_CLOSE_SECONDS = 5.0


class ByteSource(Protocol):
    async def read(self) -> bytes:
        """Return the next bytes, empty at the end. Raises OSError."""
        ...


class LineSink(Protocol):
    async def write(self, line: bytes) -> None:
        """Write a line. Raises OSError if the output is closed."""
        ...


class PeerError(Exception):
    """The other side answered a request with an error, or the connection ended before it did: then `code` is 0."""

    def __init__(self, message: str, code: int = 0, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class RequestError(Exception):
    """A request of the other side that is answered with an error. `data` goes with it."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class MethodHandler(Protocol):
    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request of the other side. Raises RequestError.

        It is cancelled if the other side cancels the request, and when the connection ends.
        """
        ...

    def handle_notification(self, method: str, params: JsonObject) -> None: ...


class JsonRpcPeer:
    """The other side, from `serve` until its input ends. `warn` gets messages for the log; `name` is the protocol."""

    def __init__(self, warn: Callable[[str], None], *, name: str) -> None:
        self._warn = warn
        self._name = name
        self._warnings = 0
        self._ids = count(1)
        self._pending: dict[RequestId, asyncio.Future[JsonObject]] = {}
        self._incoming: dict[RequestId, asyncio.Task[None]] = {}
        self._lines: deque[bytes] = deque()
        self._has_lines = asyncio.Event()
        self._end = asyncio.Event()
        self._is_closed = False
        self.queued_bytes = 0
        self.is_connected = True

    async def serve(self, handler: MethodHandler, source: ByteSource, sink: LineSink) -> None:
        """Handle messages until the input ends or the output closes. Running requests are cancelled then."""
        writer = asyncio.create_task(self._write_lines(sink))
        reader = asyncio.create_task(self._read_lines(handler, source))
        ending = asyncio.create_task(self._end.wait())
        try:
            await asyncio.wait((reader, writer, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            reader.cancel()
            ending.cancel()
            self._disconnect()
            await asyncio.wait((reader, ending))
            if self._incoming:
                await asyncio.wait(self._incoming.values())
            # The last answers, for a peer that closed only its side.
            self._is_closed = True
            self._has_lines.set()
            await asyncio.wait((writer,), timeout=_CLOSE_SECONDS)
            writer.cancel()
            await asyncio.wait((writer,))

    def close(self) -> None:
        """End the connection: `serve` returns."""
        self._end.set()

    async def wait_closed(self) -> None:
        """Wait until the other side is gone, or `close` was called."""
        await self._end.wait()

    async def request(
        self, method: str, params: JsonObject, *, may_cancel: Callable[[], bool] = lambda: True
    ) -> JsonObject:
        """Send a request and wait for its result; a result of null is an empty object.

        Cancelling it sends `$/cancel_request`, if it may be cancelled then. Raises PeerError.
        """
        if not self.is_connected:
            raise PeerError(_("The connection was closed."))
        request_id = next(self._ids)
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = future
        try:
            self._send(JsonRpcRequest(request_id, method, params))
            return await future
        except asyncio.CancelledError:
            if may_cancel():
                self.notify(_CANCEL_REQUEST, {"requestId": request_id})
            raise
        except UnencodableMessage as error:
            raise PeerError(str(error)) from error
        finally:
            del self._pending[request_id]

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. The order of notifications and requests is kept. Never raises."""
        try:
            self._send(JsonRpcNotification(method, params))
        except UnencodableMessage as error:
            self._report(_("A message was too long to send: {reason}.", reason=error))

    def _send(self, message: JsonRpcMessage) -> None:
        """Raises UnencodableMessage."""
        if not self._is_closed:
            line = encode_message(message, max_bytes=MAX_MESSAGE_BYTES)
            self._lines.append(line)
            self.queued_bytes += len(line)
            self._has_lines.set()

    async def _write_lines(self, sink: LineSink) -> None:
        with suppress(OSError, TimeoutError):
            while True:
                while self._lines:
                    line = self._lines.popleft()
                    await sink.write(line)
                    self.queued_bytes -= len(line)
                if self._is_closed:
                    return
                self._has_lines.clear()
                await self._has_lines.wait()

    async def _read_lines(self, handler: MethodHandler, source: ByteSource) -> None:
        decoder = NdjsonDecoder(max_bytes=MAX_MESSAGE_BYTES, parse=_parse)
        with suppress(OSError):
            while data := await source.read():
                for received in decoder.feed(data):
                    if isinstance(received, EndlessLine):
                        self._send(JsonRpcError(None, INVALID_REQUEST, "This line has no end."))
                        return
                    self._receive(handler, received)
            for received in decoder.end():
                if not isinstance(received, EndlessLine):
                    self._receive(handler, received)

    def _receive(self, handler: MethodHandler, received: JsonRpcMessage | InvalidLine) -> None:
        match received:
            case JsonRpcRequest():
                self._begin(handler, received)
            case JsonRpcNotification(method, params) if method == _CANCEL_REQUEST:
                self._cancel((params or {}).get("requestId"))
            case JsonRpcNotification(method, params):
                self._handle_notification(handler, method, params or {})
            case JsonRpcResponse(request_id, result):
                self._settle(request_id, result)
            case JsonRpcError(request_id, code, message, data):
                self._settle(request_id, PeerError(message, code, data))
            case InvalidLine():
                self._reject(received)
            case _:
                assert_never(received)

    def _begin(self, handler: MethodHandler, request: JsonRpcRequest) -> None:
        if request.id in self._incoming:
            self._send(JsonRpcError(request.id, INVALID_REQUEST, "A request with this id is still running."))
        elif len(self._incoming) >= _MAX_REQUESTS:
            self._send(JsonRpcError(request.id, INTERNAL_ERROR, "Too many requests at once."))
        else:
            task = asyncio.create_task(self._answer(handler, request))
            self._incoming[request.id] = task
            task.add_done_callback(lambda _: self._incoming.pop(request.id, None))

    async def _answer(self, handler: MethodHandler, request: JsonRpcRequest) -> None:
        answer: JsonRpcMessage
        try:
            answer = JsonRpcResponse(request.id, await handler.handle_request(request.method, request.params or {}))
        except RequestError as error:
            answer = JsonRpcError(request.id, error.code, str(error), error.data)
        except asyncio.CancelledError:
            answer = JsonRpcError(request.id, REQUEST_CANCELLED, "Request cancelled")
        except Exception as error:  # noqa: BLE001 -- nobody must wait in vain
            answer = JsonRpcError(
                request.id, INTERNAL_ERROR, report_unexpected(error, f"{self._name} {request.method}")
            )
        try:
            self._send(answer)
        except UnencodableMessage as error:
            self._send(JsonRpcError(request.id, INTERNAL_ERROR, f"The result cannot be sent: {error}."))

    def _handle_notification(self, handler: MethodHandler, method: str, params: JsonObject) -> None:
        try:
            handler.handle_notification(method, params)
        except Exception as error:  # noqa: BLE001 -- a notification has no answer
            self._report(report_unexpected(error, f"{self._name} {method}"))

    def _cancel(self, request_id: JsonValue) -> None:
        task = self._incoming.get(request_id) if isinstance(request_id, int | str) else None
        if task is not None:
            # Not at once: a task that is cancelled before its first step would not answer.
            asyncio.get_running_loop().call_soon(task.cancel)

    def _settle(self, request_id: RequestId | None, answer: JsonObject | PeerError) -> None:
        """Settle a request of ours. Answers that are late, doubled or to no request of ours count for nothing."""
        future = None if request_id is None else self._pending.get(request_id)
        if future is None or future.done():
            return
        if isinstance(answer, PeerError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    def _reject(self, line: InvalidLine) -> None:
        start = sanitize_summary(line.start)
        self._report(_("Received an invalid message, {reason}: {start}", reason=line.reason, start=start))
        if line.answer_to is not None:
            self._settle(line.answer_to, PeerError(line.reason, PARSE_ERROR))
            return
        code = INVALID_REQUEST if line.request_id is not None else PARSE_ERROR
        self._send(JsonRpcError(line.request_id, code, f"Invalid message: {line.reason}."))

    def _report(self, message: str) -> None:
        self._warnings += 1
        if self._warnings <= _MAX_WARNINGS:
            self._warn(message)

    def _disconnect(self) -> None:
        """Fail the requests to the other side and cancel those of it."""
        self.is_connected = False
        self._end.set()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(PeerError(_("The connection was closed.")))
        for task in self._incoming.values():
            task.cancel()


def _parse(given: object) -> JsonRpcMessage:
    """Parse a message. Results may be null here. Raises InvalidMessage."""
    message = cast("dict[str, object]", given) if isinstance(given, dict) else None
    if message is not None and "result" in message and message["result"] is None:
        return parse_message({**message, "result": {}})
    return parse_message(cast("object", given))

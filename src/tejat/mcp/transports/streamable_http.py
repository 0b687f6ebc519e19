"""The Streamable HTTP transport: each message is a request, answered by JSON or an event stream."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing, suppress

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.protocol import (
    METHOD_NOT_FOUND,
    STATELESS_REVISIONS,
    TOOL_CALL,
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
    message_to_json,
)
from tejat.mcp.transports.base import FailureHandler, MessageHandler
from tejat.mcp.transports.http_channel import (
    EVENT_STREAM,
    JSON,
    MAX_MESSAGE_BYTES,
    POST_HEADERS,
    ChannelRequest,
    HttpChannel,
    content_type,
    parse_messages,
    read_events,
)
from tejat.mcp.transports.http_headers import protocol_headers
from tejat.mcp.transports.http_transport import HttpTransport
from tejat.mcp.transports.parameter_headers import ParameterHeaders
from tejat.workspace.http.sse import SseParser
from tejat.workspace.http.types import HttpFailure, HttpLimits, HttpResponse

_SEND_LIMITS = HttpLimits(first_byte=60.0, idle=60.0, total=60.0)
_REQUEST_LIMITS = HttpLimits(first_byte=None, idle=None, total=None)
"""The caller limits the time."""
_LISTEN_LIMITS = HttpLimits(first_byte=60.0, idle=None, total=None)
_DELETE_LIMITS = HttpLimits(connect=1.0, first_byte=1.0, idle=1.0, total=1.0)

_DEFAULT_DELAY = 1.0
_MIN_DELAY = 0.05
_MAX_DELAY = 30.0
_MAX_EMPTY_RETRIES = 5
"""How often in a row a stream is resumed that delivers nothing."""
_LONG_STREAM_SECONDS = 10.0
"""A stream of this length counts as useful, even without events."""
_DRAIN_SECONDS = 0.2
"""Time for a stream to end after the response, so that its connection can be reused."""
_MAX_SESSION_ID_LENGTH = 1_024
_TRANSIENT_PROBLEMS = frozenset({McpProblem.CLOSED, McpProblem.START, McpProblem.TIMED_OUT})
"""Problems that resuming a stream may overcome."""


class StreamableHttpTransport(HttpTransport):
    """A server at one URL. `open` never raises, as nothing is opened.

    A request fails alone if it gets no response; the connection is closed only when the server has ended the session. A
    stream that breaks before the response is resumed if its events have ids.
    """

    def __init__(self, channel: HttpChannel) -> None:
        super().__init__(channel)
        self._on_message: MessageHandler = _ignore
        self._on_failure: FailureHandler = _ignore
        self._parameters = ParameterHeaders()
        self._session: str | None = None
        self._pending: dict[RequestId, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        self._on_message = on_message
        self._on_failure = on_failure

    async def send(self, message: JsonRpcMessage) -> None:
        if self._is_closed:
            raise self._closed_failure()
        if isinstance(message, JsonRpcRequest):
            self._pending[message.id] = self._spawn(self._send_request(message))
            return
        # Stateless servers get requests only; closing the response stream cancels a request.
        if self._revision in STATELESS_REVISIONS:
            return
        await self._send_one_way(message)
        if isinstance(message, JsonRpcNotification) and message.method == "notifications/initialized":
            self._spawn(self._listen())

    def forget_request(self, request_id: RequestId) -> None:
        task = self._pending.pop(request_id, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        self._is_closed = True
        self._pending.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=0.5)
        if self._session is not None:
            ending = ChannelRequest("DELETE", self._headers(None), _DELETE_LIMITS)
            self._session = None
            with suppress(McpFailure):
                async with self._channel.request(ending):
                    pass

    def _spawn(self, work: Coroutine[object, object, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _headers(self, message: JsonRpcMessage | None) -> dict[str, str]:
        kind = {"Accept": EVENT_STREAM} if message is None else POST_HEADERS
        headers = kind | protocol_headers(message, revision=self._revision, session=self._session)
        if isinstance(message, JsonRpcRequest) and message.method == TOOL_CALL and "Mcp-Method" in headers:
            headers |= self._parameters.headers_for_call(message.params or {})
        return headers

    async def _send_one_way(self, message: JsonRpcMessage) -> None:
        """Send a message that has no response."""
        post = ChannelRequest("POST", self._headers(message), _SEND_LIMITS, _encode(message))
        async with self._channel.request(post) as response:
            if not 200 <= response.status < 300:
                raise await self._failure(response)

    async def _send_request(self, request: JsonRpcRequest) -> None:
        parser = SseParser(MAX_MESSAGE_BYTES)
        try:
            try:
                await self._post(request, parser)
            except McpFailure as failure:
                if failure.problem not in _TRANSIENT_PROBLEMS or not _last_event_id(parser):
                    raise
            await self._resume(request, parser)
        except McpFailure as failure:
            if self._pending.pop(request.id, None) is not None:
                self._report_failure(failure, request.id)

    async def _post(self, request: JsonRpcRequest, parser: SseParser) -> None:
        once = request.method == TOOL_CALL
        post = ChannelRequest("POST", self._headers(request), _REQUEST_LIMITS, _encode(request), once=once)
        async with self._channel.request(post) as response:
            if not 200 <= response.status < 300:
                raise await self._failure(response, request.id)
            if request.method == "initialize":
                self._session = self._session_id(response)
            kind = content_type(response)
            if kind == EVENT_STREAM:
                await self._read_stream(response, parser, request)
            elif kind == JSON:
                for message in parse_messages(await response.read(MAX_MESSAGE_BYTES), self._channel.host):
                    self._deliver(message, request)
            if request.id in self._pending and (kind != EVENT_STREAM or not _last_event_id(parser)):
                raise self._no_answer_failure(response)

    async def _resume(self, request: JsonRpcRequest, parser: SseParser) -> None:
        """Resume a broken response stream until the response is there."""
        fruitless = 0
        while request.id in self._pending:
            if fruitless == _MAX_EMPTY_RETRIES:
                message = lazy("{where} keeps closing the connection before responding.", where=self._channel.host)
                raise McpFailure(message, McpProblem.CLOSED)
            place = parser.last_id
            await asyncio.sleep(_retry_delay(parser))
            try:
                await self._get(parser, request)
            except McpFailure as failure:
                if failure.problem not in _TRANSIENT_PROBLEMS:
                    raise
            fruitless = fruitless + 1 if parser.last_id == place else 0

    async def _listen(self) -> None:
        """Receive unsolicited messages if the server offers that. Other problems show with the next request."""
        parser = SseParser(MAX_MESSAGE_BYTES)
        clock = asyncio.get_running_loop().time
        fruitless = 0
        while fruitless < _MAX_EMPTY_RETRIES:
            began, place = clock(), parser.last_id
            try:
                await self._get(parser, None)
            except McpFailure as failure:
                if failure.problem not in _TRANSIENT_PROBLEMS:
                    return
            was_worth_it = parser.last_id != place or clock() - began >= _LONG_STREAM_SECONDS
            fruitless = 0 if was_worth_it else fruitless + 1
            await asyncio.sleep(_retry_delay(parser))

    async def _get(self, parser: SseParser, request: JsonRpcRequest | None) -> None:
        headers = self._headers(None) | ({"Last-Event-ID": place} if (place := _last_event_id(parser)) else {})
        async with self._channel.request(ChannelRequest("GET", headers, _LISTEN_LIMITS)) as response:
            if response.status != 200:
                raise await self._channel.read_failure(response)
            if content_type(response) != EVENT_STREAM:
                raise self._no_answer_failure(response)
            parser.restart()
            await self._read_stream(response, parser, request)

    async def _read_stream(self, response: HttpResponse, parser: SseParser, request: JsonRpcRequest | None) -> None:
        """Deliver the messages of a stream until it ends or the request is answered."""
        async with aclosing(read_events(response, parser, self._channel.host)) as events:
            async for event in events:
                if event.event not in ("", "message") or not event.data:
                    continue
                try:
                    messages = parse_messages(event.data, self._channel.host)
                except McpFailure:
                    if request is None:
                        continue
                    raise
                for message in messages:
                    self._deliver(message, request)
                if request is not None and request.id not in self._pending:
                    break
        with suppress(TimeoutError, HttpFailure):
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in response:
                    pass

    def _deliver(self, message: JsonRpcMessage, request: JsonRpcRequest | None) -> None:
        if self._is_closed:
            return
        if isinstance(message, JsonRpcError) and message.id is None and request is not None:
            message = replace(message, id=request.id)
        if isinstance(message, JsonRpcResponse) and request is not None and request.method == "tools/list":
            self._parameters.learn(message.result)
        if isinstance(message, JsonRpcResponse | JsonRpcError) and message.id is not None:
            task = self._pending.pop(message.id, None)
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._on_message(message)

    def _report_failure(self, failure: McpFailure, request_id: RequestId) -> None:
        if self._is_closed:
            return
        if failure.problem is McpProblem.REFUSED and failure.code is not None:
            self._on_message(JsonRpcError(request_id, failure.code, failure.message, failure.data))
        else:
            self._on_failure(failure, request_id)

    async def _failure(self, response: HttpResponse, request_id: RequestId | None = None) -> McpFailure:
        """Return the failure of a response. If the session has ended, the connection is closed.

        The failed request has had no effect; other pending requests may have.
        """
        failure = await self._channel.read_failure(response)
        if response.status != 404 or self._session is None or failure.code == METHOD_NOT_FOUND:
            return failure
        gone = McpFailure(lazy("{where} ended the session.", where=self._channel.host), McpProblem.CLOSED)
        self._session = None
        if not self._is_closed:
            self._is_closed = True
            if request_id is not None:
                self._on_failure(RequestNotSent(gone), request_id)
            self._on_failure(gone, None)
        return gone

    def _session_id(self, response: HttpResponse) -> str | None:
        session = response.headers.get("Mcp-Session-Id")
        if session is None or (_is_header_value(session) and len(session) <= _MAX_SESSION_ID_LENGTH):
            return session
        message = lazy("{where} sent an invalid session id.", where=self._channel.host)
        raise McpFailure(message, McpProblem.MALFORMED)

    def _no_answer_failure(self, response: HttpResponse) -> McpFailure:
        kind = content_type(response)
        content = lazy("nothing")
        if kind not in ("", JSON, EVENT_STREAM):
            content = lazy("content of type {kind}", kind=sanitize_text(kind[:60]))
        message = lazy(
            "{where} sent {said} instead of a response (status {status}).",
            where=self._channel.host,
            said=content,
            status=response.status,
        )
        return McpFailure(message, McpProblem.CLOSED if kind == EVENT_STREAM else McpProblem.MALFORMED)


def _ignore(*_: object) -> None:
    """Ignore messages before `open`."""


def _encode(message: JsonRpcMessage) -> bytes:
    return dump_json(message_to_json(message)).encode()


def _last_event_id(parser: SseParser) -> str:
    """Return the id to resume from; empty if it cannot be sent in a header."""
    return parser.last_id if _is_header_value(parser.last_id) else ""


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()


def _retry_delay(parser: SseParser) -> float:
    delay = _DEFAULT_DELAY if parser.retry is None else parser.retry
    return min(max(delay, _MIN_DELAY), _MAX_DELAY)

"""The HTTP+SSE transport of revision 2024-11-05: one event stream for all responses, and a URL to post to."""

import asyncio
from contextlib import aclosing, suppress

from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import TOOL_CALL, JsonRpcMessage, JsonRpcRequest, RequestId, message_to_json
from tejat.mcp.transports.base import FailureHandler, MessageHandler
from tejat.mcp.transports.http_channel import (
    EVENT_STREAM,
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
from tejat.workspace.http.sse import SseEvent, SseParser
from tejat.workspace.http.types import HttpLimits, HttpResponse

_LISTEN_LIMITS = HttpLimits(first_byte=60.0, idle=None, total=None)
_SEND_LIMITS = HttpLimits(first_byte=60.0, idle=60.0, total=60.0)
_OPEN_SECONDS = 60.0
"""Time in seconds for the server to send its endpoint."""
_OPEN_PROBLEMS = frozenset({McpProblem.CONFIGURATION, McpProblem.UNAUTHORIZED})


class SseTransport(HttpTransport):
    """A server with an event stream. When the stream ends, the connection is closed."""

    def __init__(self, channel: HttpChannel) -> None:
        super().__init__(channel)
        self._endpoint: HttpChannel | None = None
        self._posts: dict[RequestId, asyncio.Task[None]] = {}
        self._reader: asyncio.Task[None] | None = None

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        self._on_message = on_message
        self._on_failure = on_failure
        opened: asyncio.Future[McpFailure | None] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.get_running_loop().create_task(self._read(opened))
        message = lazy("{where} did not send a message endpoint.", where=self._channel.host)
        failure = McpFailure(message, McpProblem.START)
        is_open = False
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_OPEN_SECONDS):
                    is_open = (given := await opened) is None
                    failure = given or failure
        finally:
            if not is_open:
                await self.close()
        if not is_open:
            problem = failure.problem if failure.problem in _OPEN_PROBLEMS else McpProblem.START
            raise failure.replace(problem=problem)

    async def send(self, message: JsonRpcMessage) -> None:
        if self._is_closed or self._endpoint is None:
            raise self._closed_failure()
        if not isinstance(message, JsonRpcRequest):
            await self._post(message, self._endpoint)
            return
        # Some servers respond to the post only after they have answered the request.
        task = asyncio.get_running_loop().create_task(self._send_request(message, self._endpoint))
        self._posts[message.id] = task
        task.add_done_callback(lambda _: self._posts.pop(message.id, None))

    def forget_request(self, request_id: RequestId) -> None:
        if task := self._posts.get(request_id):
            task.cancel()

    async def close(self) -> None:
        self._is_closed = True
        tasks = [*self._posts.values(), *([] if self._reader is None else [self._reader])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)

    async def _read(self, opened: "asyncio.Future[McpFailure | None]") -> None:
        """Deliver the messages of the stream until it ends. `opened` gets the result of opening it."""
        listen = ChannelRequest("GET", {"Accept": EVENT_STREAM}, _LISTEN_LIMITS)
        try:
            async with self._channel.request(listen) as response:
                if response.status != 200:
                    raise await self._channel.read_failure(response)
                if content_type(response) != EVENT_STREAM:
                    kind = sanitize_text(content_type(response)[:60]) or "unknown"
                    message = lazy(
                        "{where} sent {kind}, not an event stream.",
                        where=self._channel.host,
                        kind=kind,
                    )
                    raise McpFailure(message, McpProblem.MALFORMED)
                await self._read_events(response, opened)
            failure = McpFailure(lazy("{where} closed the connection.", where=self._channel.host), McpProblem.CLOSED)
        except McpFailure as given:
            failure = given
        if not opened.done():
            opened.set_result(failure)
        elif not self._is_closed:
            self._is_closed = True
            self._on_failure(failure, None)

    async def _read_events(self, response: HttpResponse, opened: "asyncio.Future[McpFailure | None]") -> None:
        async with aclosing(read_events(response, SseParser(MAX_MESSAGE_BYTES), self._channel.host)) as events:
            async for event in events:
                if event.event == "endpoint" and not opened.done():
                    self._endpoint = self._channel.resolve(event.data)
                    opened.set_result(None)
                elif event.event in ("", "message") and event.data:
                    self._deliver(event)

    def _deliver(self, event: SseEvent) -> None:
        """Deliver the messages of an event. Invalid ones are dropped: it is unknown which request they belong to."""
        with suppress(McpFailure):
            for message in parse_messages(event.data, self._channel.host):
                if not self._is_closed:
                    self._on_message(message)

    async def _send_request(self, request: JsonRpcRequest, endpoint: HttpChannel) -> None:
        try:
            await self._post(request, endpoint)
        except McpFailure as failure:
            if not self._is_closed:
                self._on_failure(failure, request.id)

    async def _post(self, message: JsonRpcMessage, endpoint: HttpChannel) -> None:
        headers = POST_HEADERS | protocol_headers(message, revision=self._revision, session=None)
        body = dump_json(message_to_json(message)).encode()
        once = isinstance(message, JsonRpcRequest) and message.method == TOOL_CALL
        async with endpoint.request(ChannelRequest("POST", headers, _SEND_LIMITS, body, once=once)) as response:
            if not 200 <= response.status < 300:
                raise await endpoint.read_failure(response)

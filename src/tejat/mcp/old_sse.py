"""Messages over the HTTP of the oldest revision: one stream of events for all answers, and an address to post to."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from types import MappingProxyType

from tejat.core.json_text import dump_json
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.http_channel import (
    EVENT_STREAM,
    JSON,
    MOST_BYTES,
    Asked,
    Channel,
    Credentials,
    kind_of,
    read_events,
    read_messages,
)
from tejat.mcp.http_headers import protocol_headers
from tejat.mcp.protocol import TOOL_CALL, Message, Request, RequestId, message_to_json
from tejat.mcp.transport import Lose, Receive
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import SseEvent, SseParser
from tejat.workspace.http.values import HttpLimits, HttpResponse

_LISTENING = HttpLimits(first_byte=60.0, idle=None, whole=None)
_TELLING = HttpLimits(first_byte=60.0, idle=60.0, whole=60.0)
_OPENING = 60.0
"""How many seconds a server has to say where it wants messages."""
_REASONS_NOT_TO_OPEN = frozenset({McpProblem.CONFIGURATION, McpProblem.UNAUTHORISED})


class OldSseTransport:
    """A server whose stream is at one address. See `Transport`. When the stream ends, the connection is over."""

    def __init__(
        self,
        client: HttpClient,
        url: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        *,
        credentials: Credentials | None = None,
    ) -> None:
        """`headers` may hold secrets. Raises McpFailure with CONFIGURATION for an address that is none."""
        self._channel = Channel(client, url, headers=headers, credentials=credentials)
        self._endpoint: Channel | None = None
        self._revision: str | None = None
        self._posting: dict[RequestId, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._is_over = False

    async def open(self, receive: Receive, lose: Lose) -> None:
        self._receive = receive
        self._lose = lose
        told: asyncio.Future[McpFailure | None] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.get_running_loop().create_task(self._read(told))
        failure = McpFailure(
            phrase("{where} does not say where it wants messages.", where=self._channel.where), McpProblem.START
        )
        is_open = False
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_OPENING):
                    is_open = (given := await told) is None
                    failure = given or failure
        finally:
            if not is_open:
                await self.close()
        if not is_open:
            problem = failure.problem if failure.problem in _REASONS_NOT_TO_OPEN else McpProblem.START
            raise McpFailure(failure.message, problem, code=failure.code, challenge=failure.challenge)

    async def send(self, message: Message) -> None:
        if self._is_over or self._endpoint is None:
            raise McpFailure(
                phrase("The connection to {where} is closed.", where=self._channel.where), McpProblem.CLOSED
            )
        if not isinstance(message, Request):
            await self._post(message, self._endpoint)
            return
        # Some servers answer the post only after they have answered the request.
        task = asyncio.get_running_loop().create_task(self._ask(message, self._endpoint))
        self._posting[message.id] = task
        task.add_done_callback(lambda _: self._posting.pop(message.id, None))

    def agree(self, revision: str) -> None:
        self._revision = revision

    def forget(self, request_id: RequestId) -> None:
        if task := self._posting.get(request_id):
            task.cancel()

    async def close(self) -> None:
        self._is_over = True
        tasks = [*self._posting.values(), *([] if self._reading is None else [self._reading])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)

    @property
    def last_words(self) -> tuple[str, ...]:
        return ()

    async def _read(self, told: "asyncio.Future[McpFailure | None]") -> None:
        """Hand on what the stream brings, until it ends. `told` learns whether it began as it should."""
        try:
            async with self._channel.ask(Asked("GET", {"Accept": EVENT_STREAM}, _LISTENING)) as response:
                if response.status != 200:
                    raise await self._channel.failure(response)
                if kind_of(response) != EVENT_STREAM:
                    kind = visible(kind_of(response)[:60]) or "unknown"
                    raise McpFailure(
                        phrase(
                            "{where} sent something of the type {kind}, which is no stream of messages.",
                            where=self._channel.where,
                            kind=kind,
                        ),
                        McpProblem.MALFORMED,
                    )
                await self._read_events(response, told)
            failure = McpFailure(
                phrase("{where} has ended the connection.", where=self._channel.where), McpProblem.CLOSED
            )
        except McpFailure as given:
            failure = given
        if not told.done():
            told.set_result(failure)
        elif not self._is_over:
            self._is_over = True
            self._lose(failure, None)

    async def _read_events(self, response: HttpResponse, told: "asyncio.Future[McpFailure | None]") -> None:
        async with aclosing(read_events(response, SseParser(MOST_BYTES), self._channel.where)) as events:
            async for event in events:
                if event.event == "endpoint" and not told.done():
                    self._endpoint = self._channel.joined(event.data)
                    told.set_result(None)
                elif event.event in ("", "message") and event.data:
                    self._deliver(event)

    def _deliver(self, event: SseEvent) -> None:
        """What is no message is passed over: nobody can tell whom it was meant for."""
        with suppress(McpFailure):
            for message in read_messages(event.data, self._channel.where):
                if not self._is_over:
                    self._receive(message)

    async def _ask(self, request: Request, endpoint: Channel) -> None:
        try:
            await self._post(request, endpoint)
        except McpFailure as failure:
            if not self._is_over:
                self._lose(failure, request.id)

    async def _post(self, message: Message, endpoint: Channel) -> None:
        headers = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
        headers |= protocol_headers(message, revision=self._revision, session=None)
        body = dump_json(message_to_json(message)).encode()
        once = isinstance(message, Request) and message.method == TOOL_CALL
        async with endpoint.ask(Asked("POST", headers, _TELLING, body, once=once)) as response:
            if not 200 <= response.status < 300:
                raise await endpoint.failure(response)

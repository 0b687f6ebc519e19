"""Messages over streamable HTTP: each one a request of its own, whose answer is JSON or a stream of events."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import aclosing, suppress
from types import MappingProxyType

from tejat.core.json_text import dump_json
from tejat.core.value import replace
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
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
from tejat.mcp.parameter_headers import ParameterHeaders
from tejat.mcp.protocol import (
    METHOD_NOT_FOUND,
    STATELESS_REVISIONS,
    TOOL_CALL,
    Message,
    Notification,
    Refusal,
    Request,
    RequestId,
    Result,
    message_to_json,
)
from tejat.mcp.transport import Lose, Receive
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import SseParser
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpResponse

_TELLING = HttpLimits(first_byte=60.0, idle=60.0, whole=60.0)
_ASKING = HttpLimits(first_byte=None, idle=None, whole=None)
"""Whoever asks says how long to wait for the answer."""
_LISTENING = HttpLimits(first_byte=60.0, idle=None, whole=None)
_ENDING = HttpLimits(connect=1.0, first_byte=1.0, idle=1.0, whole=1.0)

_USUAL_PAUSE = 1.0
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 30.0
_MOST_FRUITLESS = 5
"""How often in a row a stream is taken up again that brings nothing."""
_LONG_LIFE = 10.0
"""A stream that lasted for so many seconds was worth it, even if nothing came."""
_LAST_BYTES = 0.2
"""How many seconds a stream is given to end after the answer, so that its connection can be used again."""
_LONGEST_SESSION = 1_024
_PASSING = frozenset({McpProblem.CLOSED, McpProblem.START, McpProblem.TIMED_OUT})
"""What may be over when a stream is taken up again."""


class StreamableHttpTransport:
    """A server at one address. See `Transport`; `open` raises nothing, since nothing is opened.

    A request fails alone when its answer cannot be had; the connection is over only when the server has forgotten the
    session. A stream that breaks off before the answer is taken up where it ended, if its events had ids.
    """

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
        self._receive: Receive = _unheard
        self._lose: Lose = _unheard
        self._parameters = ParameterHeaders()
        self._revision: str | None = None
        self._session: str | None = None
        self._asking: dict[RequestId, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def open(self, receive: Receive, lose: Lose) -> None:
        self._receive = receive
        self._lose = lose

    async def send(self, message: Message) -> None:
        if self._is_over:
            raise McpFailure(
                phrase("The connection to {where} is closed.", where=self._channel.where), McpProblem.CLOSED
            )
        if isinstance(message, Request):
            self._asking[message.id] = self._start(self._ask(message))
            return
        # A server that keeps nothing in mind is told nothing but requests; ending the answer's stream cancels one.
        if self._revision in STATELESS_REVISIONS:
            return
        await self._tell(message)
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            self._start(self._listen())

    def agree(self, revision: str) -> None:
        self._revision = revision

    def forget(self, request_id: RequestId) -> None:
        task = self._asking.pop(request_id, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        self._is_over = True
        self._asking.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=0.5)
        if self._session is not None:
            ending = Asked("DELETE", self._headers(None), _ENDING)
            self._session = None
            with suppress(McpFailure):
                async with self._channel.ask(ending):
                    pass

    @property
    def last_words(self) -> tuple[str, ...]:
        return ()

    def _start(self, work: Coroutine[object, object, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _headers(self, message: Message | None) -> dict[str, str]:
        kind = (
            {"Accept": EVENT_STREAM} if message is None else {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
        )
        headers = kind | protocol_headers(message, revision=self._revision, session=self._session)
        if isinstance(message, Request) and message.method == TOOL_CALL and "Mcp-Method" in headers:
            headers |= self._parameters.of_call(message.params or {})
        return headers

    async def _tell(self, message: Message) -> None:
        """Send what nobody answers."""
        async with self._channel.ask(Asked("POST", self._headers(message), _TELLING, _encoded(message))) as response:
            if not 200 <= response.status < 300:
                raise await self._failure(response)

    async def _ask(self, request: Request) -> None:
        parser = SseParser(MOST_BYTES)
        try:
            try:
                await self._post(request, parser)
            except McpFailure as failure:
                if failure.problem not in _PASSING or not _place(parser):
                    raise
            await self._take_up(request, parser)
        except McpFailure as failure:
            if self._asking.pop(request.id, None) is not None:
                self._answer_with(failure, request.id)

    async def _post(self, request: Request, parser: SseParser) -> None:
        once = request.method == TOOL_CALL
        asked = Asked("POST", self._headers(request), _ASKING, _encoded(request), once=once)
        async with self._channel.ask(asked) as response:
            if not 200 <= response.status < 300:
                raise await self._failure(response, request.id)
            if request.method == "initialize":
                self._session = self._session_of(response)
            kind = kind_of(response)
            if kind == EVENT_STREAM:
                await self._read_stream(response, parser, request)
            elif kind == JSON:
                for message in read_messages(await response.read(MOST_BYTES), self._channel.where):
                    self._deliver(message, request)
            if request.id in self._asking and (kind != EVENT_STREAM or not _place(parser)):
                raise self._without_answer(response)

    async def _take_up(self, request: Request, parser: SseParser) -> None:
        """Go on where the stream of an answer broke off, until the answer is there."""
        fruitless = 0
        while request.id in self._asking:
            if fruitless == _MOST_FRUITLESS:
                raise McpFailure(
                    phrase("{where} keeps breaking off before it answers.", where=self._channel.where),
                    McpProblem.CLOSED,
                )
            place = parser.last_id
            await asyncio.sleep(_pause(parser))
            try:
                await self._get(parser, request)
            except McpFailure as failure:
                if failure.problem not in _PASSING:
                    raise
            fruitless = fruitless + 1 if parser.last_id == place else 0

    async def _listen(self) -> None:
        """Hear what the server says unasked, if it offers that. What else may be wrong, the next request will tell."""
        parser = SseParser(MOST_BYTES)
        clock = asyncio.get_running_loop().time
        fruitless = 0
        while fruitless < _MOST_FRUITLESS:
            began, place = clock(), parser.last_id
            try:
                await self._get(parser, None)
            except McpFailure as failure:
                if failure.problem not in _PASSING:
                    return
            was_worth_it = parser.last_id != place or clock() - began >= _LONG_LIFE
            fruitless = 0 if was_worth_it else fruitless + 1
            await asyncio.sleep(_pause(parser))

    async def _get(self, parser: SseParser, request: Request | None) -> None:
        headers = self._headers(None) | ({"Last-Event-ID": place} if (place := _place(parser)) else {})
        async with self._channel.ask(Asked("GET", headers, _LISTENING)) as response:
            if response.status != 200:
                raise await self._channel.failure(response)
            if kind_of(response) != EVENT_STREAM:
                raise self._without_answer(response)
            parser.restart()
            await self._read_stream(response, parser, request)

    async def _read_stream(self, response: HttpResponse, parser: SseParser, request: Request | None) -> None:
        """Hand on the messages of a stream, until it ends or the request is answered."""
        async with aclosing(read_events(response, parser, self._channel.where)) as events:
            async for event in events:
                if event.event not in ("", "message") or not event.data:
                    continue
                try:
                    messages = read_messages(event.data, self._channel.where)
                except McpFailure:
                    if request is None:
                        continue
                    raise
                for message in messages:
                    self._deliver(message, request)
                if request is not None and request.id not in self._asking:
                    break
        with suppress(TimeoutError, HttpFailure):
            async with asyncio.timeout(_LAST_BYTES):
                async for _ in response:
                    pass

    def _deliver(self, message: Message, request: Request | None) -> None:
        if self._is_over:
            return
        if isinstance(message, Refusal) and message.id is None and request is not None:
            message = replace(message, id=request.id)
        if isinstance(message, Result) and request is not None and request.method == "tools/list":
            self._parameters.learn(message.result)
        if isinstance(message, Result | Refusal) and message.id is not None:
            task = self._asking.pop(message.id, None)
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._receive(message)

    def _answer_with(self, failure: McpFailure, request_id: RequestId) -> None:
        if self._is_over:
            return
        if failure.problem is McpProblem.REFUSED and failure.code is not None:
            self._receive(Refusal(request_id, failure.code, failure.message, failure.data))
        else:
            self._lose(failure, request_id)

    async def _failure(self, response: HttpResponse, request_id: RequestId | None = None) -> McpFailure:
        """What is wrong with a response. If it is that the session is gone, so is the connection.

        What was asked without a session was not looked at; whatever else is open may have been done.
        """
        failure = await self._channel.failure(response)
        if response.status != 404 or self._session is None or failure.code == METHOD_NOT_FOUND:
            return failure
        gone = McpFailure(phrase("{where} has ended the session.", where=self._channel.where), McpProblem.CLOSED)
        self._session = None
        if not self._is_over:
            self._is_over = True
            if request_id is not None:
                self._lose(Unsent(gone.message, gone.problem), request_id)
            self._lose(gone, None)
        return gone

    def _session_of(self, response: HttpResponse) -> str | None:
        session = response.headers.get("Mcp-Session-Id")
        if session is None or (_can_be_sent(session) and len(session) <= _LONGEST_SESSION):
            return session
        raise McpFailure(
            phrase("{where} calls the session by a name that is none.", where=self._channel.where), McpProblem.MALFORMED
        )

    def _without_answer(self, response: HttpResponse) -> McpFailure:
        kind = kind_of(response)
        said = (
            phrase("something of the type {kind}", kind=visible(kind[:60]))
            if kind not in ("", JSON, EVENT_STREAM)
            else phrase("nothing")
        )
        return McpFailure(
            phrase(
                "{where} said {said} where an answer was due (status {status}).",
                where=self._channel.where,
                said=said,
                status=response.status,
            ),
            McpProblem.CLOSED if kind == EVENT_STREAM else McpProblem.MALFORMED,
        )


def _unheard(*_: object) -> None:
    """What comes before anybody listens."""


def _encoded(message: Message) -> bytes:
    return dump_json(message_to_json(message)).encode()


def _place(parser: SseParser) -> str:
    """Where to take up the stream again; empty where that cannot be told to the server."""
    return parser.last_id if _can_be_sent(parser.last_id) else ""


def _can_be_sent(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()


def _pause(parser: SseParser) -> float:
    wanted = _USUAL_PAUSE if parser.retry is None else parser.retry
    return min(max(wanted, _SHORTEST_PAUSE), _LONGEST_PAUSE)

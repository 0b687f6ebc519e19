"""HTTP client of one model service, whose responses are server-sent events."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Protocol, TypeAlias

from tejat.core.i18n import lazy
from tejat.core.model import Chunk, ModelFailure, TextDelta, ThoughtDelta
from tejat.models import ModelOptions
from tejat.models.wire.http_errors import failure_from_http, parse_retry_after, protocol_failure
from tejat.models.wire.json_access import parse_json_or_text
from tejat.models.wire.redact import safe_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MAX_STREAM_BYTES, EventTooLong, SseParser
from tejat.workspace.http.types import HttpFailure, HttpLimits, HttpResponse

_MAX_ERROR_BYTES = 1_000_000
_MAX_RESPONSE_BYTES = 64 * 2**20
_DRAIN_SECONDS = 0.2
"""Time for the server to end a complete stream, so that its connection can be reused."""

AuthHeaders: TypeAlias = Callable[[], Awaitable[Mapping[str, str]]]
"""Returns the headers that authenticate the next request. Raises ModelFailure without credentials."""


class ErrorParser(Protocol):
    """Converts the body of an error response."""

    def __call__(self, body: object, *, status: int, retry_after: float | None) -> ModelFailure: ...


class ResponseReader(Protocol):
    """Assembles a response from the data of its events. Methods raise ModelFailure."""

    @property
    def is_done(self) -> bool:
        """Whether the service has ended the stream."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the response is complete, even if the connection breaks now."""
        ...

    def feed(self, data: str) -> list[Chunk]: ...

    def end(self) -> list[Chunk]:
        """Return the remaining chunks, the response last."""
        ...


class SseClient:
    """Sends requests to one service."""

    def __init__(self, options: ModelOptions, headers: AuthHeaders, parse_error: ErrorParser) -> None:
        self._headers = headers
        self._parse_error = parse_error
        self._http = HttpClient(
            environment=options.environment,
            limits=options.http_limits or HttpLimits(body=MAX_STREAM_BYTES),
            ipv4_first=options.ipv4_first,
        )

    def warm_up(self) -> None:
        self._http.warm_up()

    async def auth_headers(self) -> Mapping[str, str]:
        """Return the headers that authenticate a request. Raises ModelFailure without credentials."""
        return await self._headers()

    async def stream(
        self, url: str, body: Sequence[bytes], reader: ResponseReader, *, limits: HttpLimits | None = None
    ) -> AsyncGenerator[Chunk]:
        """Post a request and yield the chunks that the reader makes of the response. Raises ModelFailure.

        `limits` replace those of the client.
        """
        headers = await self._request_headers(url, body)
        try:
            async with self._http.request("POST", url, headers=headers, body=body, limits=limits) as response:
                if response.status != 200:
                    raise await self._api_error(response)
                async with aclosing(self._read_events(response)) as batches:
                    async for events in batches:
                        for chunk in _read_batch(reader, events):
                            yield chunk
                        if reader.is_done:
                            break
                await _drain(response)
        except HttpFailure as failure:
            if not reader.is_complete:
                raise failure_from_http(failure) from None
        except EventTooLong as error:
            raise protocol_failure(str(error)) from None
        for chunk in reader.end():
            yield chunk

    async def post(self, url: str, body: Sequence[bytes]) -> object:
        """Post a request whose response is not streamed, and return its JSON. Raises ModelFailure."""
        headers = await self._request_headers(url, body)
        try:
            async with self._http.request("POST", url, headers=headers, body=body) as response:
                if response.status != 200:
                    raise await self._api_error(response)
                return parse_json_or_text(await response.read(_MAX_ERROR_BYTES))
        except HttpFailure as failure:
            raise failure_from_http(failure) from None

    async def close(self) -> None:
        await self._http.close()

    async def _request_headers(self, url: str, body: Sequence[bytes]) -> Mapping[str, str]:
        """Return all headers of a request. Services that sign requests override this."""
        return {"content-type": "application/json", **await self._headers()}

    def _read_events(self, response: HttpResponse) -> AsyncGenerator[Iterable[str]]:
        """Yield the data of the events that arrive together. Services with another framing override this."""
        return _read_events(response)

    async def _api_error(self, response: HttpResponse) -> ModelFailure:
        wait = parse_retry_after(response.headers, time.time)
        try:
            body = parse_json_or_text(await response.read(_MAX_ERROR_BYTES))
        except HttpFailure:
            # The status is enough.
            body = ""
        return self._parse_error(body, status=response.status, retry_after=wait)


async def _read_events(response: HttpResponse) -> AsyncGenerator[Iterable[str]]:
    """Yield the data of the events that arrive together. A server that does not stream responds with one document."""
    kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if kind == "application/json":
        yield [(await response.read(_MAX_RESPONSE_BYTES)).decode("utf-8", "replace")]
        return
    if kind != "text/event-stream":
        raise protocol_failure(
            lazy("unexpected content type {kind}", kind=safe_text(kind, max_length=60) or lazy("unknown"))
        )
    parser = SseParser()
    async for piece in response:
        yield [event.data for event in parser.feed(piece)]
    # An event that was cut off in the middle is dropped.
    yield [
        event.data
        for event in parser.end()
        if not isinstance(parse_json_or_text(event.data.encode()), str) or event.data.startswith("[")
    ]


def _read_batch(reader: ResponseReader, events: Iterable[str]) -> Iterator[Chunk]:
    """Yield the chunks of events that arrived together, neighbouring pieces of text as one. Raises ModelFailure.

    Every chunk passes through each layer up to the screen. Nobody can see pieces apart that arrive at once.
    """
    kind: type[TextDelta | ThoughtDelta] = TextDelta
    texts: list[str] = []
    try:
        for data in events:
            for chunk in reader.feed(data):
                if texts and type(chunk) is not kind:
                    yield kind("".join(texts))
                    texts = []
                if isinstance(chunk, TextDelta | ThoughtDelta):
                    kind = type(chunk)
                    texts.append(chunk.text)
                else:
                    yield chunk
            if reader.is_done:
                break
    except ModelFailure:
        # What came before it was shown before it.
        if texts:
            yield kind("".join(texts))
        raise
    if texts:
        yield kind("".join(texts))


async def _drain(response: HttpResponse) -> None:
    with suppress(TimeoutError, HttpFailure):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in response:
                pass

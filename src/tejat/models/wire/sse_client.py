"""Requests to one service over HTTP, whose answers come as server-sent events."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Protocol

from tejat.core.i18n import gettext_lazy
from tejat.core.model import Chunk, ModelFailure
from tejat.models import ModelOptions
from tejat.models.http_errors import failure_from_http, parse_retry_after, protocol_failure
from tejat.models.wire.api_errors import MAX_ERROR_BYTES, ModelTarget, parse_api_error
from tejat.models.wire.json_access import parse_json_or_text
from tejat.models.wire.redact import safe_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MAX_STREAM_BYTES, EventTooLong, SseParser
from tejat.workspace.http.types import HttpFailure, HttpLimits, HttpResponse

_MAX_RESPONSE_BYTES = 64 * 2**20
_DRAIN_SECONDS = 0.2
"""How many seconds a connection is given to end a stream in which everything is said, so that it can be used again."""


class ResponseReader(Protocol):
    """Puts an answer together."""

    @property
    def is_done(self) -> bool: ...

    @property
    def is_complete(self) -> bool: ...

    def feed(self, data: str) -> list[Chunk]: ...

    def end(self) -> list[Chunk]: ...


class SseClient:
    """Asks one service. `headers` say who asks; nobody else gets to see them."""

    def __init__(self, target: ModelTarget, headers: Mapping[str, str], options: ModelOptions) -> None:
        self._target = target
        self._headers = {"content-type": "application/json", **headers}
        self._http = HttpClient(
            environment=options.environment, limits=options.http_limits or HttpLimits(body=MAX_STREAM_BYTES)
        )

    def warm_up(self) -> None:
        self._http.warm_up()

    async def stream(self, address: str, body: Sequence[bytes], reader: ResponseReader) -> AsyncGenerator[Chunk]:
        """The chunks that the reader makes of the answer. Raises ModelFailure."""
        try:
            async with self._http.request("POST", address, headers=self._headers, body=body) as response:
                if response.status != 200:
                    raise await self._api_error(response)
                async with aclosing(_read_events(response)) as events:
                    async for data in events:
                        for chunk in reader.feed(data):
                            yield chunk
                        if reader.is_done:
                            break
                await _drain(response)
        except HttpFailure as failure:
            # What comes after the end of an answer may be lost.
            if not reader.is_complete:
                raise failure_from_http(failure) from None
        except EventTooLong as error:
            raise protocol_failure(str(error)) from None
        for chunk in reader.end():
            yield chunk

    async def post(self, address: str, body: Sequence[bytes]) -> object:
        """The JSON of an answer that comes whole. Raises ModelFailure."""
        try:
            async with self._http.request("POST", address, headers=self._headers, body=body) as response:
                if response.status != 200:
                    raise await self._api_error(response)
                return parse_json_or_text(await response.read(MAX_ERROR_BYTES))
        except HttpFailure as failure:
            raise failure_from_http(failure) from None

    async def close(self) -> None:
        await self._http.close()

    async def _api_error(self, response: HttpResponse) -> ModelFailure:
        wait = parse_retry_after(response.headers, time.time)
        try:
            body = parse_json_or_text(await response.read(MAX_ERROR_BYTES))
        except HttpFailure:
            # The status says enough.
            body = ""
        return parse_api_error(body, self._target, status=response.status, retry_after=wait)


async def _read_events(response: HttpResponse) -> AsyncGenerator[str]:
    """The data of each event. A server that does not stream answers with one piece of JSON."""
    kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if kind == "application/json":
        yield (await response.read(_MAX_RESPONSE_BYTES)).decode("utf-8", "replace")
        return
    if kind != "text/event-stream":
        raise protocol_failure(
            gettext_lazy("it is of the type {kind}", kind=safe_text(kind, max_length=60) or gettext_lazy("unknown"))
        )
    parser = SseParser()
    async for piece in response:
        for event in parser.feed(piece):
            yield event.data
    for event in parser.end():
        # A stream that was cut in the middle of an event tells nothing by it.
        if not isinstance(parse_json_or_text(event.data.encode()), str) or event.data.startswith("["):
            yield event.data


async def _drain(response: HttpResponse) -> None:
    with suppress(TimeoutError, HttpFailure):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in response:
                pass

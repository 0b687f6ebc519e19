"""Requests to one service over HTTP, whose answers come as server-sent events."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Protocol

from tejat.core.model import Chunk, ModelFailure
from tejat.core.words import phrase
from tejat.models import ModelOptions
from tejat.models.failures import of_http, protocol_failure, retry_after
from tejat.models.json_shapes import json_or_text
from tejat.models.redact import safe_text
from tejat.models.refusals import MOST_BYTES, Asked, refusal
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MOST_STREAM_BYTES, EventTooLong, SseParser
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpResponse

_MOST_ANSWER_BYTES = 64 * 2**20
_LAST_BYTES = 0.2
"""How many seconds a connection is given to end a stream in which everything is said, so that it can be used again."""


class Reader(Protocol):
    """Puts an answer together."""

    @property
    def is_over(self) -> bool: ...

    @property
    def is_whole(self) -> bool: ...

    def feed(self, data: str) -> list[Chunk]: ...

    def end(self) -> list[Chunk]: ...


class Exchange:
    """Asks one service. `headers` say who asks; nobody else gets to see them."""

    def __init__(self, asked: Asked, headers: Mapping[str, str], options: ModelOptions) -> None:
        self._asked = asked
        self._headers = {"content-type": "application/json", **headers}
        self._http = HttpClient(
            environment=options.environment, limits=options.limits or HttpLimits(body=MOST_STREAM_BYTES)
        )

    def warm_up(self) -> None:
        self._http.warm_up()

    async def stream(self, address: str, body: Sequence[bytes], reader: Reader) -> AsyncGenerator[Chunk]:
        """The chunks that the reader makes of the answer. Raises ModelFailure."""
        try:
            async with self._http.request("POST", address, headers=self._headers, body=body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                async with aclosing(_events(response)) as events:
                    async for data in events:
                        for chunk in reader.feed(data):
                            yield chunk
                        if reader.is_over:
                            break
                await _let_end(response)
        except HttpFailure as failure:
            # What comes after the end of an answer may be lost.
            if not reader.is_whole:
                raise of_http(failure) from None
        except EventTooLong as error:
            raise protocol_failure(str(error)) from None
        for chunk in reader.end():
            yield chunk

    async def ask(self, address: str, body: Sequence[bytes]) -> object:
        """The JSON of an answer that comes whole. Raises ModelFailure."""
        try:
            async with self._http.request("POST", address, headers=self._headers, body=body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                return json_or_text(await response.read(MOST_BYTES))
        except HttpFailure as failure:
            raise of_http(failure) from None

    async def close(self) -> None:
        await self._http.close()

    async def _refusal(self, response: HttpResponse) -> ModelFailure:
        wait = retry_after(response.headers, time.time)
        try:
            body = json_or_text(await response.read(MOST_BYTES))
        except HttpFailure:
            # The status says enough.
            body = ""
        return refusal(body, self._asked, status=response.status, retry_after=wait)


async def _events(response: HttpResponse) -> AsyncGenerator[str]:
    """The data of each event. A server that does not stream answers with one piece of JSON."""
    kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if kind == "application/json":
        yield (await response.read(_MOST_ANSWER_BYTES)).decode("utf-8", "replace")
        return
    if kind != "text/event-stream":
        raise protocol_failure(phrase("it is of the type {kind}", kind=safe_text(kind, most=60) or phrase("unknown")))
    parser = SseParser()
    async for piece in response:
        for event in parser.feed(piece):
            yield event.data
    for event in parser.end():
        # A stream that was cut in the middle of an event tells nothing by it.
        if not isinstance(json_or_text(event.data.encode()), str) or event.data.startswith("["):
            yield event.data


async def _let_end(response: HttpResponse) -> None:
    with suppress(TimeoutError, HttpFailure):
        async with asyncio.timeout(_LAST_BYTES):
            async for _ in response:
                pass

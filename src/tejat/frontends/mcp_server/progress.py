"""What a running call shows meanwhile, told to the client that wants to know, not too often."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeAlias

from tejat.core.events import Event, OutputUpdated
from tejat.core.types import JsonValue
from tejat.core.visible import visible
from tejat.mcp.protocol import Message, Notification

Send: TypeAlias = Callable[[Message], Awaitable[None]]
"""Sends a message where it belongs, and waits until there is room for it."""

_BETWEEN_SECONDS = 0.25
_SILENT_SECONDS = 10.0
_LONGEST_MESSAGE = 2_000


class Progress:
    """Tells while it is entered; `watch` may be called at any time. Without a token nothing is told.

    A call that is silent for long is told of too: a client that waits with a limit should not give up on it.
    """

    def __init__(self, send: Send, token: JsonValue) -> None:
        self._send = send
        self._token = token if isinstance(token, str | int) and not isinstance(token, bool) else None
        self._news = asyncio.Event()
        self._output = ""
        self._telling: asyncio.Task[None] | None = None

    def watch(self, event: Event) -> None:
        if isinstance(event, OutputUpdated):
            self._output = event.output
            self._news.set()

    async def __aenter__(self) -> Self:
        if self._token is not None:
            self._telling = asyncio.create_task(self._tell(self._token))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.wait((self._telling,))

    async def _tell(self, token: str | int) -> None:
        told = 0
        while True:
            try:
                async with asyncio.timeout(_SILENT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                pass  # nothing new, but still at it
            self._news.clear()
            told += 1
            params: dict[str, JsonValue] = {"progressToken": token, "progress": told}
            if self._output:
                params["message"] = visible(self._output[-_LONGEST_MESSAGE:])
            await self._send(Notification("notifications/progress", params))
            await asyncio.sleep(_BETWEEN_SECONDS)

"""Rate-limited progress notifications of running calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self, TypeAlias

from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import Event, OutputUpdated
from tejat.mcp.protocol import JsonRpcMessage, JsonRpcNotification

SendMessage: TypeAlias = Callable[[JsonRpcMessage], Awaitable[None]]
"""Sends a message, and waits until there is room for it."""

_MIN_INTERVAL_SECONDS = 0.25
_HEARTBEAT_SECONDS = 10.0
_MAX_MESSAGE_CHARS = 2_000


class ProgressNotifier:
    """Sends notifications while entered; `handle_event` may be called at any time. Needs a progress token.

    Silent calls send a heartbeat, so that clients with a timeout do not give up.
    """

    def __init__(self, send: SendMessage, token: JsonValue) -> None:
        self._send = send
        self._token = token if isinstance(token, str | int) and not isinstance(token, bool) else None
        self._updated = asyncio.Event()
        self._output = ""
        self._task: asyncio.Task[None] | None = None

    def handle_event(self, event: Event) -> None:
        if isinstance(event, OutputUpdated):
            self._output = event.output
            self._updated.set()

    async def __aenter__(self) -> Self:
        if self._token is not None:
            self._task = asyncio.create_task(self._notify(self._token))
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _notify(self, token: str | int) -> None:
        count = 0
        while True:
            try:
                async with asyncio.timeout(_HEARTBEAT_SECONDS):
                    await self._updated.wait()
            except TimeoutError:
                pass  # no news: send a heartbeat
            self._updated.clear()
            count += 1
            params: dict[str, JsonValue] = {"progressToken": token, "progress": count}
            if self._output:
                params["message"] = sanitize_text(self._output[-_MAX_MESSAGE_CHARS:])
            await self._send(JsonRpcNotification("notifications/progress", params))
            await asyncio.sleep(_MIN_INTERVAL_SECONDS)

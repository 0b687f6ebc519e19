"""Server-sent events: messages with a position, so that a client that comes back gets what it missed."""

import asyncio
from collections.abc import AsyncGenerator

from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue

_KEEP_ALIVE_SECONDS = 25.0


def encode_event(name: str, value: JsonValue, *, position: str = "") -> bytes:
    """One message. JSON of ours has no line breaks, so it is one line of data."""
    head = f"id: {position}\n" if position else ""
    return f"{head}event: {name}\ndata: {dump_json(value)}\n\n".encode()


class EventStream:
    """Sends messages as they come, and a comment from time to time, which tunnels need.

    Closing it closes `messages`.
    """

    def __init__(self, messages: AsyncGenerator[bytes]) -> None:
        self._messages = messages

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        yield b": connected\n\n"
        waiting = asyncio.ensure_future(anext(self._messages, None))
        try:
            while True:
                done, _pending = await asyncio.wait((waiting,), timeout=_KEEP_ALIVE_SECONDS)
                if not done:
                    yield b": still here\n\n"
                    continue
                message = waiting.result()
                if message is None:
                    return
                yield message
                waiting = asyncio.ensure_future(anext(self._messages, None))
        finally:
            waiting.cancel()
            await asyncio.wait((waiting,))

    async def aclose(self) -> None:
        """End the messages."""
        await self._messages.aclose()

"""Byte stream over a socket, as an asyncio protocol."""

import asyncio
import ssl
from typing import cast

_MAX_BUFFERED = 262_144
_NO_HANDSHAKE_TIMEOUT = 86_400.0


class SocketStream(asyncio.Protocol):
    """One connection, used by one task at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._is_paused = False
        self._waiter: asyncio.Future[None] | None = None
        self.can_write = True
        self.at_eof = False
        self.error: Exception | None = None
        self.closed: asyncio.Future[None] = self._loop.create_future()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    @property
    def has_data(self) -> bool:
        return self._buffered > 0

    async def wait(self, until: float | None) -> None:
        """Return once data arrived, writing became possible, the stream ended, or the loop's clock shows `until`."""
        waiter = self._waiter = self._loop.create_future()
        alarm = None if until is None else self._loop.call_at(until, self._wake)
        try:
            await waiter
        finally:
            self._waiter = None
            if alarm is not None:
                alarm.cancel()

    def read_available(self) -> bytes:
        """Return all unread data."""
        taken = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._buffered = 0
        if self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()
        return taken

    def write(self, data: bytes | memoryview) -> None:
        """Send data, unless the connection is broken: `at_eof` is about to become true then."""
        assert self._transport is not None
        # asyncio would log a warning to stderr for each write to a broken connection.
        if not self._transport.is_closing():
            self._transport.write(data)

    async def start_tls(self, context: "ssl.SSLContext", name: str) -> None:
        """Raises OSError, including ssl.SSLError."""
        assert self._transport is not None
        transport = await self._loop.start_tls(
            self._transport, self, context, server_hostname=name, ssl_handshake_timeout=_NO_HANDSHAKE_TIMEOUT
        )
        if transport is None:
            raise ConnectionResetError
        self._transport = transport

    def abort(self) -> None:
        """Close at once, dropping unsent and unreceived data."""
        if self._transport is not None:
            self.error = self.error or ConnectionAbortedError()
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered > _MAX_BUFFERED and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.at_eof = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.at_eof = True
        self.error = self.error or exc
        if not self.closed.done():
            self.closed.set_result(None)
        self._wake()

    def pause_writing(self) -> None:
        self.can_write = False

    def resume_writing(self) -> None:
        self.can_write = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

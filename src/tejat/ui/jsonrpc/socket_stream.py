"""The two directions of a connected socket."""

import asyncio

_READ_BYTES = 1 << 18
_WRITE_SECONDS = 60.0
"""How long the other side may leave a line unread."""


class SocketSource:
    """Implements `ByteSource`."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def read(self) -> bytes:
        """Return the next bytes, empty at the end. Raises OSError."""
        return await self._reader.read(_READ_BYTES)


class SocketSink:
    """Implements `LineSink`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, line: bytes) -> None:
        """Write a line. Raises OSError, also if the other side does not read."""
        self._writer.write(line)
        async with asyncio.timeout(_WRITE_SECONDS):
            await self._writer.drain()

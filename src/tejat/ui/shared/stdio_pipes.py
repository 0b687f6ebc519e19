"""Standard input and output, or other descriptors, as streams of bytes and lines."""

import asyncio
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager

_READ_BYTES = 65_536
_WRITE_SECONDS = 300.0
"""How long the reader of the output may leave a line unread."""


@contextmanager
def protocol_output() -> Generator[int]:
    """Yield standard output for messages, and redirect everything else written there to standard error."""
    sink = os.dup(1)
    os.dup2(2, 1)
    try:
        yield sink
    finally:
        os.dup2(sink, 1)
        os.close(sink)


class PipeInput:
    """Bytes from a pipe, socket, terminal or file. The descriptor is blocking again after `close`."""

    def __init__(self, source: int, reader: asyncio.StreamReader | None, close: Callable[[], None]) -> None:
        self._source = source
        self._reader = reader
        self.close = close

    @staticmethod
    async def open(source: int) -> "PipeInput":
        if _is_file(source):
            return PipeInput(source, None, lambda: None)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_READ_BYTES)
        was_blocking = os.get_blocking(source)
        file = os.fdopen(source, "rb", buffering=0, closefd=False)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)

        def close() -> None:
            transport.close()
            os.set_blocking(source, was_blocking)

        return PipeInput(source, reader, close)

    async def read(self) -> bytes:
        """Return the next bytes, empty at the end. Raises OSError."""
        if self._reader is not None:
            return await self._reader.read(_READ_BYTES)
        await asyncio.sleep(0)  # files never block: let other tasks run
        return os.read(self._source, _READ_BYTES)


class PipeOutput:
    """Whole lines to a descriptor, which is blocking again after `close`."""

    def __init__(self, sink: int, writer: asyncio.StreamWriter | None, close: Callable[[], None]) -> None:
        self._sink = sink
        self._writer = writer
        self.close = close

    @staticmethod
    async def open(sink: int) -> "PipeOutput":
        if _is_file(sink):
            return PipeOutput(sink, None, lambda: None)
        loop = asyncio.get_running_loop()
        was_blocking = os.get_blocking(sink)
        file = os.fdopen(sink, "wb", buffering=0, closefd=False)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
        transport.set_write_buffer_limits(high=0)  # drain waits until the whole line is written

        def close() -> None:
            if not transport.is_closing():
                transport.abort()  # unwritten data has no reader any more
            os.set_blocking(sink, was_blocking)

        return PipeOutput(sink, asyncio.StreamWriter(transport, protocol, None, loop), close)

    async def write(self, line: bytes) -> None:
        """Write a line. Raises OSError if the output is closed."""
        if self._writer is None:
            left = memoryview(line)
            while left:
                left = left[os.write(self._sink, left) :]
            return
        self._writer.write(line)
        async with asyncio.timeout(_WRITE_SECONDS):
            await self._writer.drain()


def _is_file(descriptor: int) -> bool:
    """Whether the descriptor cannot be polled: a file, or a device other than a terminal."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))

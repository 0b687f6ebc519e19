"""Non-blocking writer of whole lines to a pipe."""

import asyncio
import os
from collections import deque

_MAX_LINES = 1000
_MAX_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 16


class PipeWriter:
    """Owns the write end of a pipe, which must be non-blocking."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._lines: deque[_QueuedLine] = deque()
        self._bytes = 0
        self._is_watching = False
        self._is_closed = False

    async def write(self, line: bytes, *, seconds: float) -> None:
        """Write a line after those queued before it.

        On cancellation and timeout, a line that is not started is removed; one that is started is finished in the
        background. Raises TimeoutError after `seconds`, and at once if too much is queued, and BrokenPipeError if
        either end is closed.
        """
        if self._is_closed:
            raise BrokenPipeError
        if len(self._lines) >= _MAX_LINES or self._bytes > _MAX_BYTES:
            raise TimeoutError
        entry = _QueuedLine(line, self._loop.create_future())
        self._lines.append(entry)
        self._bytes += len(line)
        self._flush()
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait((entry.written,))
        finally:
            if not entry.written.done() and entry.is_unsent:
                self._lines.remove(entry)
                self._bytes -= len(line)
        entry.written.result()

    @property
    def is_mid_line(self) -> bool:
        """Whether a line is only partly written."""
        return bool(self._lines) and not self._lines[0].is_unsent

    def close(self) -> None:
        """Close the pipe. Pending writes fail with BrokenPipeError. May be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        self._watch(on=False)
        os.close(self._descriptor)
        for entry in self._lines:
            entry.fail()
        self._lines.clear()

    def _flush(self) -> None:
        while self._lines:
            entry = self._lines[0]
            try:
                entry.remaining = entry.remaining[os.write(self._descriptor, entry.remaining[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                break
            except OSError:
                self.close()
                return
            if not entry.remaining:
                self._lines.popleft()
                self._bytes -= entry.size
                entry.written.set_result(None)
        self._watch(on=bool(self._lines))

    def _watch(self, *, on: bool) -> None:
        if on and not self._is_watching:
            self._loop.add_writer(self._descriptor, self._flush)
        elif self._is_watching and not on:
            self._loop.remove_writer(self._descriptor)
        self._is_watching = on


class _QueuedLine:
    __slots__ = ("remaining", "size", "written")

    def __init__(self, line: bytes, written: "asyncio.Future[None]") -> None:
        self.remaining = memoryview(line)
        self.size = len(line)
        self.written = written

    @property
    def is_unsent(self) -> bool:
        return len(self.remaining) == self.size

    def fail(self) -> None:
        self.written.set_exception(BrokenPipeError())
        self.written.exception()  # nobody may be waiting

"""Lines on their way into a pipe: in order, without blocking, each of them whole or not at all."""

import asyncio
import os
from collections import deque

_MOST_LINES = 1000
_MOST_BYTES = 64 << 20
_PIECE = 1 << 16


class Outgoing:
    """The end of a pipe to write to, which must not block and belongs to this object."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._lines: deque[_Line] = deque()
        self._bytes = 0
        self._is_waiting = False
        self._is_closed = False

    async def write(self, line: bytes, *, seconds: float) -> None:
        """Write a line after those before it.

        When the waiting is cancelled, or takes too long, a line that is not begun is taken back; one that is begun is
        written on in the background. Raises TimeoutError after so many `seconds`, and at once where too much waits
        already; BrokenPipeError when nobody reads any more, or this end was closed.
        """
        if self._is_closed:
            raise BrokenPipeError
        if len(self._lines) >= _MOST_LINES or self._bytes > _MOST_BYTES:
            raise TimeoutError
        entry = _Line(line, self._loop.create_future())
        self._lines.append(entry)
        self._bytes += len(line)
        self._write_on()
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait((entry.written,))
        finally:
            if not entry.written.done() and entry.is_whole:
                self._lines.remove(entry)
                self._bytes -= len(line)
        entry.written.result()

    @property
    def is_midway(self) -> bool:
        """Whether only a part of a line is written."""
        return bool(self._lines) and not self._lines[0].is_whole

    def close(self) -> None:
        """Whoever waits gets BrokenPipeError. May be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        self._wait(on=False)
        os.close(self._descriptor)
        for entry in self._lines:
            entry.fail()
        self._lines.clear()

    def _write_on(self) -> None:
        while self._lines:
            entry = self._lines[0]
            try:
                entry.left = entry.left[os.write(self._descriptor, entry.left[:_PIECE]) :]
            except BlockingIOError:
                break
            except OSError:
                self.close()
                return
            if not entry.left:
                self._lines.popleft()
                self._bytes -= entry.size
                entry.written.set_result(None)
        self._wait(on=bool(self._lines))

    def _wait(self, *, on: bool) -> None:
        if on and not self._is_waiting:
            self._loop.add_writer(self._descriptor, self._write_on)
        elif self._is_waiting and not on:
            self._loop.remove_writer(self._descriptor)
        self._is_waiting = on


class _Line:
    __slots__ = ("left", "size", "written")

    def __init__(self, line: bytes, written: "asyncio.Future[None]") -> None:
        self.left = memoryview(line)
        self.size = len(line)
        self.written = written

    @property
    def is_whole(self) -> bool:
        return len(self.left) == self.size

    def fail(self) -> None:
        self.written.set_exception(BrokenPipeError())
        self.written.exception()  # nobody need be waiting

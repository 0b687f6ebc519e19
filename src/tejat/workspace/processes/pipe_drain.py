"""Pipes that a process in the background still writes to: read and thrown away, so that it can go on writing."""

import asyncio
import os
from collections import deque
from functools import partial

_MAX_PIPES = 64
_PIECE = 1 << 16


class PipeDrain:
    """Holds the ends to read of such pipes until the last writer lets go of them.

    Pipes are read while an event loop runs; a process that writes meanwhile waits when its pipe is full, where without
    us it would be killed. Of very many pipes the oldest are let go.
    """

    def __init__(self) -> None:
        self._pipes: deque[tuple[asyncio.AbstractEventLoop, int]] = deque()

    def add(self, descriptor: int) -> None:
        """Take over the end of a pipe; it must not block. To be called in a running loop."""
        loop = asyncio.get_running_loop()
        for reading, kept in [pair for pair in self._pipes if pair[0] is not loop and pair[0].is_closed()]:
            self._pipes.remove((reading, kept))
            self._watch(loop, kept)
        self._watch(loop, descriptor)
        while len(self._pipes) > _MAX_PIPES:
            self._close_pipe(*self._pipes[0])

    def close(self) -> None:
        """Let go of every pipe."""
        while self._pipes:
            self._close_pipe(*self._pipes[0])

    def _watch(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        self._pipes.append((loop, descriptor))
        loop.add_reader(descriptor, partial(self._read, loop, descriptor))

    def _read(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        try:
            if os.read(descriptor, _PIECE):
                return
        except BlockingIOError:
            return
        self._close_pipe(loop, descriptor)

    def _close_pipe(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        self._pipes.remove((loop, descriptor))
        if not loop.is_closed():
            loop.remove_reader(descriptor)
        os.close(descriptor)

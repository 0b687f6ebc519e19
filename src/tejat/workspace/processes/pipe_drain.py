"""Drain for pipes that background processes still write to."""

import asyncio
import os
from collections import deque
from functools import partial

_MAX_PIPES = 64
_PIECE = 1 << 16


class PipeDrain:
    """Reads and discards output of background processes, so that a full or closed pipe does not stop them.

    Pipes are read while an event loop runs; meanwhile a writer with a full pipe waits instead of getting SIGPIPE. The
    oldest pipes are closed when there are very many.
    """

    def __init__(self) -> None:
        self._pipes: deque[tuple[asyncio.AbstractEventLoop, int]] = deque()

    def add(self, descriptor: int) -> None:
        """Take over the read end of a pipe, which must be non-blocking. Call it in a running loop."""
        loop = asyncio.get_running_loop()
        for reading, kept in [pair for pair in self._pipes if pair[0] is not loop and pair[0].is_closed()]:
            self._pipes.remove((reading, kept))
            self._watch(loop, kept)
        self._watch(loop, descriptor)
        while len(self._pipes) > _MAX_PIPES:
            self._close_pipe(*self._pipes[0])

    def close(self) -> None:
        """Close all pipes."""
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

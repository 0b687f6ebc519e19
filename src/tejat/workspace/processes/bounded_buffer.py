"""Buffer that keeps the beginning and end of output of any length, with an optional spool file."""

from collections.abc import Callable
from typing import BinaryIO

_SNIFFED = 4096


class BoundedBuffer:
    """Buffer that keeps the first `head` and the last `tail` bytes of what is added.

    While everything fits, everything is kept. On overflow `spool` is called for a file, which receives all output from
    the beginning, up to `spool_limit` bytes. If the file cannot be opened or written, `spool_error` says why. Call
    `close` at the end.
    """

    def __init__(self, *, head: int, tail: int, spool: Callable[[], BinaryIO] | None, spool_limit: int) -> None:
        self.total = 0
        self.spooled = 0
        self.spool_error: OSError | None = None
        self.is_binary = False
        """Whether the first 4096 bytes contain a NUL."""
        self._head_size = head
        self._tail_size = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._oldest = 0  # start of the tail in the ring buffer
        self._spool = spool
        self._spool_limit = spool_limit
        self._file: BinaryIO | None = None

    def add(self, data: bytes | bytearray | memoryview) -> None:
        view = memoryview(data)
        if self.total < _SNIFFED and not self.is_binary:
            self.is_binary = 0 in bytes(view[: _SNIFFED - self.total])
        if self.total + len(view) > self._head_size + self._tail_size:
            self._write_to_spool(view)
        self.total += len(view)
        if (room := self._head_size - len(self._head)) > 0:
            self._head += view[:room]
            view = view[room:]
        if view:
            self._add_to_tail(view)

    @property
    def head_bytes(self) -> bytes:
        return bytes(self._head)

    @property
    def tail_bytes(self) -> bytes:
        """The bytes kept after the head."""
        view = memoryview(self._tail)
        return b"".join((view[self._oldest :], view[: self._oldest]))

    @property
    def omitted(self) -> int:
        """The number of bytes dropped between head and tail."""
        return self.total - len(self._head) - len(self._tail)

    @property
    def is_complete(self) -> bool:
        return self.omitted == 0

    @property
    def is_spool_complete(self) -> bool:
        """Whether the file holds all output. False without a file."""
        return self._file is not None and self.spool_error is None and self.spooled == self.total

    def close(self) -> None:
        """Close the file, if any. The kept bytes stay readable."""
        if self._file is None or self._file.closed:
            return
        try:
            self._file.close()
        except OSError as error:
            self.spool_error = self.spool_error or error

    def _add_to_tail(self, view: memoryview) -> None:
        size = self._tail_size
        if len(view) >= size:
            self._tail[:] = view[len(view) - size :]
            self._oldest = 0
            return
        if (room := size - len(self._tail)) > 0:
            self._tail += view[:room]
            view = view[room:]
        first = view[: size - self._oldest]
        self._tail[self._oldest : self._oldest + len(first)] = first
        rest = view[len(first) :]
        self._tail[: len(rest)] = rest
        self._oldest = (self._oldest + len(view)) % size if size else 0

    def _write_to_spool(self, view: memoryview) -> None:
        if self._spool is None or self.spool_error is not None:
            return
        try:
            if self._file is None:
                self._file = self._spool()
                self._write(self._file, memoryview(self._head))
                self._write(self._file, memoryview(self.tail_bytes))
            self._write(self._file, view)
        except OSError as error:
            self.spool_error = error

    def _write(self, file: BinaryIO, view: memoryview) -> None:
        view = view[: self._spool_limit - self.spooled]
        while view:
            written = file.write(view)
            self.spooled += written
            view = view[written:]

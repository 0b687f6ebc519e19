"""Live output of a running command: shown at once, then every second, then a last time."""

import asyncio
from collections import deque
from collections.abc import Callable

from tejat.workspace.processes.shell_output import format_size
from tejat.workspace.text.terminal_text import render_terminal_text

MAX_SHOWN_CHARACTERS = 100_000
"""Older output is dropped first."""

_SECONDS_BETWEEN = 1.0
_BYTES_KEPT = 4 * MAX_SHOWN_CHARACTERS
_SNIFFED = 4096
_HALTING = "[Binary output detected. Halting stream...]"


class LiveOutput:
    """Throttled display of output. Work is done only for what is shown, so a flood of output is cheap."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._shown_at: float | None = None
        self._pieces: deque[bytes] = deque()
        self._buffered = 0
        self._total = 0
        self._is_binary = False

    def add(self, data: bytes | memoryview) -> None:
        """Add output, of which only what may be shown is copied."""
        if self._total < _SNIFFED and not self._is_binary and 0 in data[: _SNIFFED - self._total]:
            self._is_binary = True
            self._pieces.clear()
            self._show(_HALTING)
            self._shown_at = self._loop.time()
        self._total += len(data)
        if not self._is_binary:
            self._buffer(data)
        if self._timer is not None:
            return
        wait = 0.0 if self._shown_at is None else self._shown_at + _SECONDS_BETWEEN - self._loop.time()
        if wait <= 0:
            self._update()
        else:
            self._timer = self._loop.call_later(wait, self._update)

    def close(self) -> None:
        """Show output that arrived since the last update."""
        if self._timer is not None:
            self._update()

    def _buffer(self, data: bytes | memoryview) -> None:
        self._pieces.append(bytes(data[-_BYTES_KEPT:]))
        self._buffered += len(self._pieces[-1])
        while self._buffered - len(self._pieces[0]) >= _BYTES_KEPT:
            self._buffered -= len(self._pieces.popleft())

    def _update(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._shown_at = self._loop.time()
        if self._is_binary:
            self._show(f"[Receiving binary output... {format_size(self._total)} received]")
        else:
            self._show(self._text())

    def _text(self) -> str:
        raw = b"".join(self._pieces)
        if len(raw) < self._total:
            raw = raw[raw.find(b"\n", 0, MAX_SHOWN_CHARACTERS) + 1 :]
        return render_terminal_text(raw.decode("utf-8", "replace"))[-MAX_SHOWN_CHARACTERS:]

"""Progress at a terminal: finished tasks scroll away, running ones and the totals stay below them."""

import errno
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TextIO, TypeAlias

from tejat.batch.events import BatchEvent, BatchNoticed, TaskEnded, TaskRetried, TaskStarted
from tejat.batch.progress.frame import live_rows
from tejat.batch.progress.summary import end_parts, end_reason, join_parts
from tejat.batch.progress.tally import BatchTally
from tejat.batch.progress.task_lines import notice_rows, result_rows, retry_rows
from tejat.batch.progress.timer import OutputTimer
from tejat.batch.text.columns import one_line, wrap_rows
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.ui.report import Tone
from tejat.ui.terminal.render.cells import text_width
from tejat.workspace.text.terminal_text import strip_sequences

_DRAW_SECONDS = 0.125
"""Least time between two frames."""
_TICK_SECONDS = 1.0
_BEGIN_FRAME, _END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""A synchronized update: the terminal shows it as a whole. Others ignore it."""
_MAX_ID_WIDTH = 40
_SignalHandler: TypeAlias = Callable[[int, FrameType | None], object] | int | None
_DISCONNECT_ERRORS = {errno.EIO, errno.EPIPE, errno.EBADF, errno.ENXIO, errno.ENODEV}


class LiveTable:
    """A listener that draws a live table. A context manager: at its end the totals replace the live area.

    It draws in the event loop that the events come from, only when something changed or a second has passed. The cursor
    stays visible below the table, so a killed batch leaves the terminal in order.
    """

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._style = TerminalStyle(self._stream)
        self._clock = clock
        self._tally = BatchTally(clock())
        self._timer = OutputTimer(self._draw)
        self._pending: list[Callable[[int], list[str]]] = []
        """Rows that are to scroll away, made when the width is known."""
        self._shown: list[str] = []
        self._shown_size = (0, 0)
        self._drawn_at = float("-inf")
        self._id_width = 0
        self._is_gone = False
        self._previous_handler: _SignalHandler = None

    def __enter__(self) -> "LiveTable":
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGWINCH, self._on_resize)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.stop()
        if self._previous_handler is not None:
            signal.signal(signal.SIGWINCH, self._previous_handler)
            self._previous_handler = None
        # A batch that could not start ends with an error that the caller reports.
        self._write_frame(self._end_rows() if self._tally.has_started else [])

    def __call__(self, event: BatchEvent) -> None:
        now = self._clock()
        self._tally.record(event, now)
        style = self._style
        match event:
            case TaskStarted(task_id):
                self._id_width = max(self._id_width, min(text_width(one_line(task_id)), _MAX_ID_WIDTH))
            case TaskEnded(result):
                self._pending.append(lambda width: result_rows(result, style, width, self._ids(width)))
            case TaskRetried():
                self._pending.append(lambda width: retry_rows(event, style, width))
            case BatchNoticed():
                self._pending.append(lambda width: notice_rows(event, style, width))
            case _:
                pass
        wait = self._drawn_at + _DRAW_SECONDS - now
        if self._tally.ended is None and not self._timer.call_within(wait) and wait <= 0:
            self._draw()

    def _ids(self, width: int) -> int:
        """The columns of ids: as wide as the widest so far, at most a third of the terminal."""
        return min(max(self._id_width, 8), max(width // 3, 8))

    def _on_resize(self, number: int, frame: FrameType | None) -> None:
        self._timer.call_from_signal()

    def _draw(self) -> None:
        now = self._clock()
        size = self._style.columns, self._style.rows
        rows = live_rows(self._tally, now, self._style, size, id_width=self._ids(size[0] - 1))
        if self._pending or rows != self._shown or size != self._shown_size:
            self._write_frame(rows)
        self._drawn_at = now
        self._timer.call_within(_TICK_SECONDS - (now - self._tally.began) % _TICK_SECONDS)

    def _write_frame(self, rows: list[str]) -> None:
        """Write what scrolls away and the rows below it as one frame, over the rows that are shown."""
        size = self._style.columns, self._style.rows
        width = max(size[0] - 1, 1)
        above = [row for make in self._pending for row in make(width)]
        self._pending.clear()
        start = "\r" + (f"\x1b[{count}A" if (count := self._shown_height(size[0])) else "")
        # After a change of size a row may be marked as a part of the one before. Erasing it whole removes the mark.
        erase, rest = ("\x1b[2K", "") if size != self._shown_size else ("", "\x1b[K")
        body = "".join(f"{erase}{row}{rest}\n" for row in (*above, *rows))
        self._write(f"{_BEGIN_FRAME}{start}{body}\x1b[J{_END_FRAME}")
        self._shown, self._shown_size = rows, size

    def _shown_height(self, columns: int) -> int:
        """The rows above the cursor that belong to the live area, also after the terminal wrapped them anew."""
        if columns >= self._shown_size[0] or not self._shown or not _wraps_anew():
            return len(self._shown)
        return sum(max(1, -(-text_width(strip_sequences(row)) // max(columns, 1))) for row in self._shown)

    def _end_rows(self) -> list[str]:
        width = max(self._style.columns - 1, 1)
        now = self._clock()
        parts = end_parts(self._tally, now)
        if sum(text_width(part.text) + 3 for part in parts) <= width:
            rows = [join_parts(parts, self._style, width)]
        else:
            text = self._style.signs.separator.join(part.text for part in parts)
            rows = wrap_rows(self._style.encodable(text), width)
        reason = self._style.encodable(end_reason(self._tally))
        return [*rows, *(self._style.paint(row, Tone.WARNING) for row in (wrap_rows(reason, width) if reason else ()))]

    def _write(self, frame: str) -> None:
        """Write a frame with as few calls as the terminal takes. A terminal that is gone gets nothing more."""
        rest = memoryview(frame.encode(self._stream.encoding or "utf-8", "replace"))
        while rest and not self._is_gone:
            try:
                rest = rest[os.write(self._stream.fileno(), rest) :]
            except BlockingIOError:
                select.select([], [self._stream.fileno()], [])
            except OSError as error:
                if error.errno not in _DISCONNECT_ERRORS:
                    raise
                self._is_gone = True


def _wraps_anew() -> bool:
    from tejat.ui.terminal.screen.renderer import terminal_reflows

    return terminal_reflows(os.environ)

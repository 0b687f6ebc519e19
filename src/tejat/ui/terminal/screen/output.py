"""Terminal output in whole frames, each a synchronized update."""

import errno
import os
import select
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Attrs

from tejat.ui.terminal.background import BackgroundQuery
from tejat.ui.terminal.screen.focus import FocusReports

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
_PLAIN = "\x1b[0m"
# Mouse, focus, alternate screen. Terminals without them ignore this.
_RESET_MODES = "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1004, 1006, 1015, 1047))
_DEFAULT_SIZE = Size(rows=24, columns=80)


class SynchronizedOutput(Vt100_Output):
    """Sends no title or cursor shape, and no query by itself.

    Calls `on_disconnect` once when the terminal is gone; drops the rest.
    """

    def __init__(self, stdout: TextIO, *, on_disconnect: Callable[[], None]) -> None:
        super().__init__(stdout, self._terminal_size, enable_cpr=False, enable_bell=False)
        self._descriptor = stdout.fileno()
        self._on_disconnect = on_disconnect
        self._holds = 0
        self._attributes = ""
        self._cursor_visible = True  # the initial state; so nothing is written before the first frame
        self.is_disconnected = False
        self.is_ascii = False
        self.focus = FocusReports(self)
        self.background = BackgroundQuery(self)

    @contextmanager
    def batch(self) -> Generator[None]:
        """Send everything written inside as one frame."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self.flush()

    def write(self, data: str) -> None:
        """Write the text of a cell, followed by a cursor move if terminals disagree about its width."""
        super().write(data)
        if isinstance(data, PositionedText):
            self.write_raw(f"\x1b[{data.end + 1}G")

    def set_attributes(self, attrs: Attrs, color_depth: ColorDepth) -> None:
        self._set(self._escape_code_caches[color_depth][attrs])

    def reset_attributes(self) -> None:
        self._set(_PLAIN)

    def reset_modes(self) -> None:
        """Turn off modes that another program may have left on, such as mouse tracking."""
        self._attributes = ""
        self.write_raw(_RESET_MODES)

    def _set(self, attributes: str) -> None:
        if attributes != self._attributes:
            self._attributes = attributes
            self.write_raw(attributes)

    def enable_bracketed_paste(self) -> None:
        super().enable_bracketed_paste()
        self.focus.open()

    def disable_bracketed_paste(self) -> None:
        super().disable_bracketed_paste()
        self.focus.close()

    def show_cursor(self) -> None:
        """Show the cursor. Unlike prompt_toolkit's this does not change its blinking."""
        if not self._cursor_visible:
            self._cursor_visible = True
            self.write_raw("\x1b[?25h")

    def erase_down(self) -> None:
        """Erase from the first column, where the cursor is.

        tmux would keep the erased lines in its history if the erasure began in the very first cell, so that cell is
        blanked first.
        """
        self.write_raw(" \x1b[J\b")

    def flush(self) -> None:
        if self._holds or not self._buffer:
            return
        text = "".join(self._buffer)
        self._buffer.clear()
        encoding, rule = ("ascii", "backslashreplace") if self.is_ascii else ("utf-8", "replace")
        self._write_all(f"{_BEGIN}{text}{_END}".encode(encoding, rule))

    def _write_all(self, frame: bytes) -> None:
        """Write a frame, waiting for a slow terminal."""
        rest = memoryview(frame)
        while rest and not self.is_disconnected:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except InterruptedError:
                continue
            except BlockingIOError:
                select.select([], [self._descriptor], [])
            except OSError as error:
                self._on_write_error(error)

    def _on_write_error(self, error: OSError) -> None:
        if error.errno not in _DISCONNECT_ERRORS:
            raise error
        self.is_disconnected = True
        self._on_disconnect()

    def _terminal_size(self) -> Size:
        """Return the size, with a default for terminals that report 0."""
        try:
            found = os.get_terminal_size(self._descriptor)
        except OSError:
            return _DEFAULT_SIZE
        return Size(rows=found.lines or _DEFAULT_SIZE.rows, columns=found.columns or _DEFAULT_SIZE.columns)


class PositionedText(str):
    """Text of a cell after which the cursor is moved to column `end`."""

    __slots__ = ("end",)

    end: int

    def __new__(cls, text: str, end: int) -> "PositionedText":
        made = super().__new__(cls, text)
        made.end = end
        return made


_DISCONNECT_ERRORS = {errno.EIO, errno.EPIPE, errno.EBADF, errno.ENXIO, errno.ENODEV, errno.ECONNRESET}

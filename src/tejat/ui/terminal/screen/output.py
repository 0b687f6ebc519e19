"""What goes to the terminal: whole frames, each written at once, between the marks of a synchronized update."""

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

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
_PLAIN = "\x1b[0m"
# Mouse, focus, the other screen. Whoever has none of them is told nothing new.
_RESET_MODES = "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1004, 1006, 1015, 1047))
_DEFAULT_SIZE = Size(rows=24, columns=80)


class SynchronizedOutput(Vt100_Output):
    """Asks the terminal for nothing, names no title, leaves the shape of the cursor alone.

    A terminal that is gone is told to `on_disconnect`, once; what is written after that goes nowhere.
    """

    def __init__(self, stdout: TextIO, *, on_disconnect: Callable[[], None]) -> None:
        super().__init__(stdout, self._terminal_size, enable_cpr=False, enable_bell=False)
        self._descriptor = stdout.fileno()
        self._on_disconnect = on_disconnect
        self._holds = 0
        self._attributes = ""
        self._cursor_visible = True  # as every program finds it; so nothing is written before there is a frame
        self.is_disconnected = False
        self.is_ascii = False

    @contextmanager
    def batch(self) -> Generator[None]:
        """All that is written inside goes out together at the end."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self.flush()

    def write(self, data: str) -> None:
        """Text of a cell. A grapheme that terminals do not agree about is followed by the way to its own end."""
        super().write(data)
        if isinstance(data, PositionedText):
            self.write_raw(f"\x1b[{data.end + 1}G")

    def set_attributes(self, attrs: Attrs, color_depth: ColorDepth) -> None:
        self._set(self._escape_code_caches[color_depth][attrs])

    def reset_attributes(self) -> None:
        self._set(_PLAIN)

    def reset_modes(self) -> None:
        """Somebody else had the terminal, and may have been killed before they gave up its mouse and other screen."""
        self._attributes = ""
        self.write_raw(_RESET_MODES)

    def _set(self, attributes: str) -> None:
        if attributes != self._attributes:
            self._attributes = attributes
            self.write_raw(attributes)

    def show_cursor(self) -> None:
        """Unlike prompt_toolkit's this does not stop it from blinking, which is the person's choice."""
        if not self._cursor_visible:
            self._cursor_visible = True
            self.write_raw("\x1b[?25h")

    def erase_down(self) -> None:
        """From the first column, where the cursor is. A tmux that is told so in its very first cell would keep what it
        erases in its history; so the first cell is made blank and the rest erased behind it."""
        self.write_raw(" \x1b[J\b")

    def flush(self) -> None:
        if self._holds or not self._buffer:
            return
        text = "".join(self._buffer)
        self._buffer.clear()
        encoding, rule = ("ascii", "backslashreplace") if self.is_ascii else ("utf-8", "replace")
        self._write_all(f"{_BEGIN}{text}{_END}".encode(encoding, rule))

    def _write_all(self, frame: bytes) -> None:
        """A slow terminal takes a frame in pieces; then this waits for it."""
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
        """Terminals that do not know their size say 0."""
        try:
            found = os.get_terminal_size(self._descriptor)
        except OSError:
            return _DEFAULT_SIZE
        return Size(rows=found.lines or _DEFAULT_SIZE.rows, columns=found.columns or _DEFAULT_SIZE.columns)


class PositionedText(str):
    """The text of a cell after which the cursor is to stand at the column `end`, whatever the terminal thinks."""

    __slots__ = ("end",)

    end: int

    def __new__(cls, text: str, end: int) -> "PositionedText":
        made = super().__new__(cls, text)
        made.end = end
        return made


_DISCONNECT_ERRORS = {errno.EIO, errno.EPIPE, errno.EBADF, errno.ENXIO, errno.ENODEV, errno.ECONNRESET}

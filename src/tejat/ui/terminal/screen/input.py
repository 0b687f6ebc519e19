"""Terminal input as UTF-8, whatever the locale."""

import os
import select
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input

from tejat.ui.terminal.background import BackgroundQuery
from tejat.ui.terminal.screen.focus import FocusReports
from tejat.ui.terminal.screen.paste_parser import PasteParser

_READ_BYTES = 4096
"""Most bytes that a terminal returns at once."""


class TerminalInput(Vt100Input):
    """Keys from a terminal; its reports go to `focus` and `background`."""

    def __init__(self, stdin: TextIO, *, focus: FocusReports, background: BackgroundQuery) -> None:
        super().__init__(stdin)
        self.stdin_reader = _Reader(stdin.fileno(), errors="replace", encoding="utf-8")
        self.vt100_parser = PasteParser(self.vt100_parser.feed_key_callback, focus.handle_report, background)


class _Reader(PosixStdinReader):
    """Reader that takes an error for the end of input: reads of a closed terminal fail for ever."""

    def read(self, count: int = _READ_BYTES) -> str:
        if self.closed:
            return ""
        try:
            if not select.select([self.stdin_fd], [], [], 0)[0]:
                return ""
            found = os.read(self.stdin_fd, max(count, _READ_BYTES))
        except (InterruptedError, BlockingIOError):
            return ""
        except (OSError, ValueError):
            found = b""
        self.closed = not found
        return self._stdin_decoder.decode(found)

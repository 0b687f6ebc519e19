"""Terminal input as UTF-8, whatever the locale."""

import os
import select
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input

from tejat.ui.terminal.screen.paste_parser import PasteParser

_READ_BYTES = 4096
"""Most bytes that a terminal returns at once."""


class TerminalInput(Vt100Input):
    def __init__(self, stdin: TextIO, *, on_focus: Callable[[bool], None]) -> None:
        super().__init__(stdin)
        self.stdin_reader = _Reader(stdin.fileno(), errors="replace", encoding="utf-8")
        self.vt100_parser = PasteParser(self.vt100_parser.feed_key_callback, on_focus)


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

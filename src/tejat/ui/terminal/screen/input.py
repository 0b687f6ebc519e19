"""Keys as they come from the terminal, in UTF-8 whatever the locale says, up to the moment when it is gone."""

import os
import select
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input

from tejat.ui.terminal.screen.paste_parser import PasteParser

_READ_BYTES = 4096
"""What a terminal hands out at most at a time."""


class TerminalInput(Vt100Input):
    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self.stdin_reader = _Reader(stdin.fileno(), errors="replace", encoding="utf-8")
        self.vt100_parser = PasteParser(self.vt100_parser.feed_key_callback)


class _Reader(PosixStdinReader):
    """Takes an error for the end: a terminal that was closed answers every read with one, for ever."""

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

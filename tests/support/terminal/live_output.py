"""A terminal for a part of the program that writes to a stream in this process."""

import os
import select
import termios
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from support.terminal.emulator import TerminalEmulator


class LiveOutput:
    """A stream to a pseudo-terminal, and the screen that it draws."""

    def __init__(self, controller: int, stream: TextIO, columns: int, rows: int) -> None:
        self._controller = controller
        self._model = TerminalEmulator(columns, rows)
        self.stream = stream
        self.raw = b""
        self._set_size(columns, rows)

    @property
    def screen(self) -> TerminalEmulator:
        while select.select([self._controller], [], [], 0)[0]:
            data = os.read(self._controller, 65536)
            self.raw += data
            self._model.feed(data)
        return self._model

    @property
    def lines(self) -> list[str]:
        """The scrollback and the screen, without trailing empty rows."""
        return self.screen.history().split("\n")

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        termios.tcsetwinsize(self._controller, (rows, columns))


@contextmanager
def open_output(columns: int = 80, rows: int = 24, *, encoding: str = "utf-8") -> Generator[LiveOutput]:
    controller, line = os.openpty()
    try:
        with open(line, "w", encoding=encoding) as stream:
            yield LiveOutput(controller, stream, columns, rows)
    finally:
        os.close(controller)

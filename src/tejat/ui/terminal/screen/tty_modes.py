"""Terminal modes: the original ones, ours, and switching between them."""

import os
import signal
import termios
import threading
from contextlib import suppress

_Modes = list[int | list[bytes | int]]


class TtyModes:
    """Modes of the terminal behind a descriptor. Anything but a live terminal is left alone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.original = self._read()
        self._ours: _Modes | None = None

    def restore_original(self) -> None:
        """Save our modes and set the original ones."""
        self._ours = self._read()
        self._set(self.original)

    def restore_ours(self) -> None:
        """Set the modes in which we draw."""
        self._set(self._ours)

    def save_ours(self) -> None:
        self._ours = self._read()

    @property
    def are_unchanged(self) -> bool:
        """Whether the modes are still ours."""
        return self._ours is None or self._read() == self._ours

    def _read(self) -> _Modes | None:
        with suppress(termios.error):
            return termios.tcgetattr(self._descriptor)
        return None

    def _set(self, modes: _Modes | None) -> None:
        if modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)


def suspend_process(*, whole_group: bool) -> None:
    """Stop as by Ctrl-Z until continued; `whole_group` includes processes around us, such as a shell script."""
    if whole_group:
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    # Sent to the process, another thread might take the signal while this one goes on drawing.
    signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)

"""The modes of the terminal line: as they were found, as they are while we draw, and back and forth between them."""

import os
import signal
import termios
import threading
from contextlib import suppress

_Modes = list[int | list[bytes | int]]


class TtyModes:
    """Of the terminal behind a descriptor. One that is no terminal, or is gone, is left alone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.original = self._read()
        self._ours: _Modes | None = None

    def restore_original(self) -> None:
        """Whoever has the terminal next finds it as we found it."""
        self._ours = self._read()
        self._set(self.original)

    def restore_ours(self) -> None:
        """Back to the modes in which we draw."""
        self._set(self._ours)

    def save_ours(self) -> None:
        self._ours = self._read()

    @property
    def are_unchanged(self) -> bool:
        """Whether nobody has changed them since they were given back or noted."""
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
    """Stop as Ctrl-Z does at a shell, and return when somebody has let us go on.

    `whole_group` stops those too that were started together with us, such as a shell script around us.
    """
    if whole_group:
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    # To this very thread: sent to the process, another thread might take it while this one goes on to draw.
    signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)

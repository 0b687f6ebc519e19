"""A call that is told to end does so as at Ctrl-C: its commands are stopped, and what they changed is written down."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """Somebody sent a signal that ends the program. `exit_code` is what a shell expects then."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextmanager
def graceful_termination() -> Generator[None]:
    """Signals that would end the program at once raise Terminated instead, the first time.

    Those that the caller has us ignore stay ignored, as with nohup.
    """
    heeded = [number for number in _TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _frame: FrameType | None) -> None:
    # Whoever asks a second time does not want to wait until everything is put in order. That a terminal is closed is
    # told twice to everybody, by the system and by the shell.
    signal.signal(number, _ignore if number == signal.SIGHUP else signal.SIG_DFL)
    raise Terminated(number)


def _ignore(_number: int, _frame: FrameType | None) -> None: ...

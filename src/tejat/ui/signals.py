"""Graceful termination: signals raise an exception, so that commands are stopped and changes recorded."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """A signal that ends the program was received. `exit_code` is what shells expect then."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextmanager
def graceful_termination() -> Generator[None]:
    """Raise Terminated at the first signal that would end the program. Ignored signals stay ignored, as with nohup."""
    heeded = [number for number in _TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _frame: FrameType | None) -> None:
    # A second signal ends the program without a graceful shutdown. SIGHUP always comes twice, from the kernel and from
    # the shell.
    signal.signal(number, _ignore if number == signal.SIGHUP else signal.SIG_DFL)
    raise Terminated(number)


def _ignore(_number: int, _frame: FrameType | None) -> None: ...

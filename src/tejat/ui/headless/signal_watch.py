"""Signals that an event loop handles.

`loop.add_signal_handler` does the same, but it loads `inspect`, which takes a twentieth of a headless run.
"""

import asyncio
import signal
import socket
from collections.abc import Callable, Sequence


class SignalWatch:
    """A context in which these signals are kept until a loop handles them. It is for the main thread.

    Enter it before `asyncio.run`, which has a handler of its own for SIGINT otherwise.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def __enter__(self) -> "SignalWatch":
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)
        # The kernel may interrupt any thread. This byte wakes up the loop in the main thread.
        self._earlier_descriptor = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        self._earlier = {number: signal.signal(number, _do_nothing) for number in self._numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._earlier_descriptor)
        self._receiver.close()
        self._sender.close()

    def handle(self, callback: Callable[[int], None]) -> None:
        """Call this function with the number of each signal, as long as the running loop exists."""
        asyncio.get_running_loop().add_reader(self._receiver.fileno(), self._receive, callback)

    def _receive(self, callback: Callable[[int], None]) -> None:
        for number in self._receiver.recv(4096):
            if number in self._earlier:
                callback(number)


def _do_nothing(*_: object) -> None:
    """A handler, so that the signal does not end the program."""

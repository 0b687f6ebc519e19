"""Cooperative stop requests for work in threads."""


class StopRequested(Exception):
    """Raised inside a thread whose result is no longer needed."""


class StopToken:
    """A check that work in a thread calls where it may be interrupted. Raises StopRequested after `request_stop`."""

    __slots__ = ("_requested",)

    def __init__(self) -> None:
        self._requested = False

    def request_stop(self) -> None:
        self._requested = True

    def __call__(self) -> None:
        if self._requested:
            raise StopRequested


def never_stop() -> None:
    """The check for work that cannot be interrupted."""

"""Delivery of events to any number of listeners."""

from collections.abc import Callable
from typing import Generic, TypeVar

_Event = TypeVar("_Event")


class EventBus(Generic[_Event]):
    """Calls its listeners synchronously, in the order of their subscription."""

    def __init__(self) -> None:
        self._subscribed: dict[object, Callable[[_Event], None]] = {}
        self._listeners: tuple[Callable[[_Event], None], ...] = ()

    def subscribe(self, listener: Callable[[_Event], None]) -> Callable[[], None]:
        """Deliver later events to `listener`. Returns a function that ends the subscription."""
        key = object()
        self._subscribed[key] = listener
        self._listeners = tuple(self._subscribed.values())
        return lambda: self._unsubscribe(key)

    def emit(self, event: _Event) -> None:
        """Deliver an event to every listener. Raises the first error of a listener after all have been called."""
        first_error: Exception | None = None
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 -- raised below
                first_error = first_error or error
        if first_error is not None:
            raise first_error

    def _unsubscribe(self, key: object) -> None:
        self._subscribed.pop(key, None)
        self._listeners = tuple(self._subscribed.values())

"""The check of functions that get events."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar, cast

from tejat.core.approval.approver import takes_arguments

_E = TypeVar("_E")


def check_event_function(given: Callable[[_E], None] | None) -> Callable[[_E], None] | None:
    """Return the function to call with events, or None. Raises TypeError for anything else than a plain function.

    The function that is returned raises TypeError if `given` returned an awaitable, which nobody would await.
    """
    if given is None:
        return None
    if not callable(given) or isinstance(given, type) or not takes_arguments(given, 1):
        raise TypeError(f"on_event must be a function that takes an event, not {given!r}.")
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(given.__call__):
        raise TypeError(_IS_ASYNC)
    function: Callable[[_E], object] = given

    def deliver(event: _E) -> None:
        if (returned := function(event)) is not None:
            _refuse_awaitable(returned)

    return deliver


def _refuse_awaitable(returned: object) -> None:
    """Raises TypeError."""
    if isinstance(returned, Coroutine):
        cast("Coroutine[object, object, object]", returned).close()  # Python would warn that it was not awaited
    if isinstance(returned, Awaitable):
        raise TypeError(_IS_ASYNC)


_IS_ASYNC = "on_event must be a plain function, not an `async` one: events are delivered as they happen."

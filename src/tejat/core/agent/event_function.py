"""The check of functions that get events."""

import inspect
from typing import TypeVar

from tejat.core.approval.approver import takes_arguments

_F = TypeVar("_F")


def check_event_function(given: _F) -> _F:
    """Return the function for `on_event`, or None. Raises TypeError for anything else than a plain function."""
    if given is None:
        return given
    if not callable(given) or isinstance(given, type) or not takes_arguments(given, 1):
        raise TypeError(f"on_event must be a function that takes an event, not {given!r}.")
    if inspect.iscoroutinefunction(given):
        raise TypeError("on_event must be a plain function, not an `async` one: events are delivered as they happen.")
    return given

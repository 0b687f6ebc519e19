"""Calls as a program gives them to `Toolset`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from tejat.core.errors import CallbackFailure
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.text.one_or_many import PathLike

if TYPE_CHECKING:
    from tejat.core.tools.call_events import CallEventSink, CallFinished
    from tejat.engine.calls.scheduler import Scheduler


def function_call(call: FunctionCall | str, params: Params | None, arguments: Params) -> FunctionCall:
    """Make a call of a name and its arguments, or check that it is one. Paths become text. Raises TypeError."""
    given = cast("object", call)
    if isinstance(given, FunctionCall):
        if params is not None or arguments:
            raise TypeError("A FunctionCall has its arguments in `args`. Pass the call, or a name and arguments.")
        return given
    if not isinstance(given, str):
        raise TypeError(f"Expected a FunctionCall or the name of a tool, not {given!r}.")
    if params is not None and not isinstance(cast("object", params), Mapping):
        raise TypeError(f"The arguments of {given} must be a mapping, not {params!r}.")
    return FunctionCall(given, {name: _plain(value) for name, value in {**(params or {}), **arguments}.items()})


def _plain(value: object) -> object:
    """A path as the text that tools expect; anything else as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return list(map(_plain, cast("Sequence[object]", value)))
    return value.__fspath__() if isinstance(value, PathLike) else value


def list_calls(calls: FunctionCall | Iterable[FunctionCall]) -> list[FunctionCall]:
    """The calls, one or several. Raises TypeError for anything else."""
    if isinstance(calls, FunctionCall):
        return [calls]
    given = cast("object", calls)
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"Expected FunctionCalls, not {given!r}.")
    items = list(cast("Iterable[object]", given))
    for item in items:
        if not isinstance(item, FunctionCall):
            raise TypeError(f"Expected a FunctionCall, not {item!r}.")
        if not isinstance(cast("object", item.name), str):
            raise TypeError(f"The name of a FunctionCall must be a string, not {item.name!r}.")
        if not isinstance(cast("object", item.id), str | None):
            raise TypeError(f"The id of a FunctionCall must be a string or None, not {item.id!r}.")
    return cast("list[FunctionCall]", items)


async def run_calls(
    scheduler: Scheduler, calls: Sequence[FunctionCall], on_event: CallEventSink | None
) -> list[CallFinished]:
    """Run calls and return their last events. Raises what the functions of the calling program raise."""
    batch = scheduler.batch(calls, on_event, beside=True)
    error = None
    try:
        await batch.run()
    except CallbackFailure as failure:
        error = failure.error
    error = error or batch.sink_error
    if error is not None:
        raise error  # outside of `except`, so that its context stays that of the program
    return batch.finished

"""Assertions about the events of a run."""

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import cast

from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_events import CallFinished


def assert_called(events: Iterable[AgentEvent], name: str, /, **args: object) -> CallFinished:
    """Assert that a tool was called with at least these arguments, and return the first such event.

    Its `state` and `result` say how the call ended. Raises TypeError for anything but events, as the others do.
    """
    finished = _finished(events)
    found = next((event for event in finished if _matches(event.call, name, args)), None)
    if found is None:
        raise AssertionError(f"{_describe(name, args)} was not called. {_list_calls(finished)}")
    return found


def assert_not_called(events: Iterable[AgentEvent], name: str, /, **args: object) -> None:
    """Assert that a tool was not called with these arguments."""
    finished = _finished(events)
    if any(_matches(event.call, name, args) for event in finished):
        raise AssertionError(f"{_describe(name, args)} was called. {_list_calls(finished)}")


def assert_text(run: RunEnded | Iterable[AgentEvent], expected: str) -> RunEnded:
    """Assert that the answer of a run contains a text, and return the end of the run.

    `run` is what `ask` returned, or the events of `run`.
    """
    ended = run if isinstance(run, RunEnded) else _ended(run)
    if expected not in ended.text:
        failure = f" ({ended.message})" if ended.message else ""
        raise AssertionError(
            f"{expected!r} is not in the answer {ended.text!r}. The run ended: {ended.reason}{failure}"
        )
    return ended


def _finished(events: Iterable[AgentEvent]) -> list[CallFinished]:
    return [event for event in _events(events) if isinstance(event, CallFinished)]


def _events(given: object) -> Iterable[object]:
    """Raises TypeError for anything that cannot be the events of a run."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return cast("Iterable[object]", given)
    wrong = f"The events of a run are expected, not an object of the type {type(given).__name__}."
    if isinstance(given, AsyncIterable):
        raise TypeError(f"{wrong} Collect them with `async for`.")
    raise TypeError(f"{wrong} They are in `list(agent.run(...))`.")


def _ended(events: Iterable[AgentEvent]) -> RunEnded:
    ended = [event for event in _events(events) if isinstance(event, RunEnded)]
    if not ended:
        raise AssertionError("There is no RunEnded among the events: collect all events of the run.")
    return ended[-1]


def _matches(call: FunctionCall, name: str, args: dict[str, object]) -> bool:
    return call.name == name and all(key in call.args and call.args[key] == value for key, value in args.items())


def _list_calls(finished: list[CallFinished]) -> str:
    if not finished:
        return "There were no calls."
    listed = "".join(f"\n  {_describe(event.call.name, event.call.args)}: {event.state}" for event in finished)
    return f"The calls were:{listed}"


def _describe(name: str, args: Mapping[str, object]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"

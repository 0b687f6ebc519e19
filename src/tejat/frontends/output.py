"""What every kind of headless output has in common: where it writes, and what it says on the side."""

import time
from collections.abc import Callable
from typing import Protocol

from tejat.core.agent_events import AgentEvent, Retrying, RunEnded
from tejat.core.display import Display
from tejat.core.events import CallFinished
from tejat.core.tool import ToolError
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.endings import exit_code_of
from tejat.frontends.notices import notice_of


@value
class Streams:
    """`result` takes what was asked for and nothing else; `aside` takes a line for the person.

    Where time is not told every duration is 0, so that a run that is played again reads the same each time.
    """

    result: Callable[[str], None]
    aside: Callable[[str], None]
    is_terminal: bool = False
    now: Callable[[], float] = time.time
    tells_durations: bool = True
    code_of: Callable[[RunEnded], int] = exit_code_of
    """The exit code that the program is going to end with."""

    def milliseconds(self, seconds: float) -> int:
        """A duration as it is told."""
        return round(seconds * 1000) if self.tells_durations else 0


class Output(Protocol):
    """One way of telling a run. `RunEnded` is the last event it sees, unless nothing could be begun at all."""

    def tell(self, event: AgentEvent) -> None: ...

    def fail(self, message: str, *, name: str, code: int) -> None:
        """Nothing was begun: say why."""
        ...


def aside(event: AgentEvent) -> str | None:
    """What a person should hear of an event while they wait for the result, if anything."""
    match event:
        case Retrying(_, reason, attempt, most, wait):
            seconds = f"{wait:.0f}"
            times = say(
                "attempt {attempt} of {most}; next try in {seconds} s", attempt=attempt, most=most, seconds=seconds
            )
            return f"{translated(reason)} ({times})"
        case CallFinished(call=call, result=result) if result.error is not None:
            told = translated(failure_of(result.error, result.return_display))
            return f"{say('Error executing tool {name}', name=call.name)}: {told}"
        case _:
            noticed = notice_of(event)
            return None if noticed is None else noticed.message


def failure_of(error: ToolError, display: Display) -> str:
    """What a person is told of a call that failed; the message of the error is for the model."""
    return display if isinstance(display, str) and display else error.message


def one_line(text: str) -> str:
    """Safe for a terminal, and in one piece."""
    return visible(translated(text).strip())

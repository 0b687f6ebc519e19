"""What every kind of headless output has in common: where it writes, and what it says on the side."""

import time
from collections.abc import Callable
from typing import Protocol

from tejat.core.agent.events import AgentEvent, Retrying, RunEnded
from tejat.core.frozen import frozen
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.base import ToolError
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import Display
from tejat.ui.shared.exit_status import exit_code_for
from tejat.ui.shared.notices import notice_for_event


@frozen
class OutputStreams:
    """`result` takes what was asked for and nothing else; `aside` takes a line for the person.

    Where time is not told every duration is 0, so that a run that is played again reads the same each time.
    """

    write_result: Callable[[str], None]
    write_notice: Callable[[str], None]
    is_terminal: bool = False
    now: Callable[[], float] = time.time
    reports_durations: bool = True
    exit_code_for: Callable[[RunEnded], int] = exit_code_for
    """The exit code that the program is going to end with."""

    def milliseconds(self, seconds: float) -> int:
        """A duration as it is told."""
        return round(seconds * 1000) if self.reports_durations else 0


class Output(Protocol):
    """One way of telling a run. `RunEnded` is the last event it sees, unless nothing could be begun at all."""

    def handle_event(self, event: AgentEvent) -> None: ...

    def fail(self, message: str, *, name: str, code: int) -> None:
        """Nothing was begun: say why."""
        ...


def describe_event(event: AgentEvent) -> str | None:
    """What a person should hear of an event while they wait for the result, if anything."""
    match event:
        case Retrying(_, reason, attempt, most, wait):
            seconds = f"{wait:.0f}"
            times = _(
                "attempt {attempt} of {most}; next try in {seconds} s", attempt=attempt, most=most, seconds=seconds
            )
            return f"{translate(reason)} ({times})"
        case CallFinished(call=call, result=result) if result.error is not None:
            told = translate(failure_message(result.error, result.return_display))
            return f"{_('Error executing tool {name}', name=call.name)}: {told}"
        case _:
            noticed = notice_for_event(event)
            return None if noticed is None else noticed.message


def failure_message(error: ToolError, display: Display) -> str:
    """What a person is told of a call that failed; the message of the error is for the model."""
    return display if isinstance(display, str) and display else error.message


def notice_line(text: str) -> str:
    """Safe for a terminal, and in one piece."""
    return sanitize_text(translate(text).strip())

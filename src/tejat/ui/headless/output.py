"""Common parts of the headless outputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tejat.core.agent.events import AwaitingModel, Retrying
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, translate
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.ui.shared.exit_status import exit_code_for
from tejat.ui.shared.notices import notice_for_event, retry_message, waiting_message
from tejat.workspace.text.terminal_text import strip_sequences

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent, PlanPresented, RunEnded
    from tejat.core.tools.base import ToolError
    from tejat.core.tools.display import Display


class OutputStreams(Frozen):
    """Where an output writes: the result and nothing else to `write_result`, notices to `write_notice`.

    Without `reports_durations` every duration is 0, so that a replayed run prints the same each time.
    """

    write_result: Callable[[str], None]
    write_notice: Callable[[str], None]
    is_terminal: bool = False
    now: Callable[[], float] = time.time
    reports_durations: bool = True
    exit_code_for: Callable[[RunEnded], int] = exit_code_for
    """Return the exit code of the program for the end of a run."""

    def milliseconds(self, seconds: float) -> int:
        """Return a duration as it is reported."""
        return round(seconds * 1000) if self.reports_durations else 0


class Output(Protocol):
    """An output format. `RunEnded` is the last event it gets, unless the run could not be started."""

    def handle_event(self, event: AgentEvent) -> None: ...

    def fail(self, message: str, *, name: str, code: int) -> None:
        """Report why the run could not be started."""


def describe_event(event: AgentEvent) -> str | None:
    """Return the notice for an event while the run goes on, if any. That of a sub-agent begins with its id."""
    match event:
        case AgentActivity(agent_id, _, inner):
            notice = describe_event(inner)
            return None if notice is None else f"[{agent_id}] {notice}"
        case Retrying(wait=wait):
            return retry_message(event, wait=wait) + "."
        case AwaitingModel():
            return waiting_message(event)
        case CallFinished(call=call, result=result) if result.error is not None:
            message = translate(failure_message(result.error, result.return_display))
            return _("Error executing tool {name}", name=call.name) + f": {message}"
        case _:
            noticed = notice_for_event(event)
            return None if noticed is None else noticed.message


def plan_to_json(plan: PlanPresented) -> JsonObject:
    """Return the plan of a run as its result has it."""
    return {"path": plan.path, "text": strip_sequences(plan.text), "approved": plan.is_approved}


def failure_message(error: ToolError, display: Display) -> str:
    """Return the message of a failed call for the user; the error message itself is for the model."""
    return display if isinstance(display, str) and display else error.message


def notice_line(text: str) -> str:
    """Return a sanitized notice."""
    return sanitize_text(translate(text).strip())

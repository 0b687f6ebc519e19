"""The state of a call while its batch runs."""

import time
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import Confirmation
from tejat.core.errors import ErrorType
from tejat.core.i18n import _, lazy
from tejat.core.log import tools_logger
from tejat.core.messages.types import FunctionCall, Part
from tejat.core.tools.base import BaseTool, ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState
from tejat.core.tools.cancellation import CancelReason
from tejat.core.tools.result_check import checked_result

if TYPE_CHECKING:
    from tejat.core.agent.hooks import HookedCall

CANCELLED_WHILE_RUNNING = "[Operation Cancelled] Reason: User cancelled tool execution."
CANCELLED_BEFORE_START = "[Operation Cancelled] Reason: Tool call cancelled by user before it ran."
CANCELLED_IN_QUEUE = "Tool call cancelled while in queue."
CANCELLED_BY_TIMEOUT = "[Operation Cancelled] Reason: The time limit of the run was reached."
CANCELLED_BY_FAILURE = "[Operation Cancelled] Reason: The program that runs the tools failed."


class BatchCall:
    """The state of one call."""

    __slots__ = (
        "arguments",
        "finished",
        "hook_check",
        "index",
        "partial",
        "replaced",
        "request",
        "response",
        "result",
        "started",
        "state",
        "tool",
        "undo_problem",
    )

    def __init__(self, index: int, request: FunctionCall) -> None:
        self.index = index
        self.request = request
        self.arguments = request.args
        """The arguments as the tool gets them, parsed once."""
        self.tool: BaseTool | None = None
        self.hook_check: HookedCall | None = None
        self.state = CallState.VALIDATING
        self.started = 0.0
        self.result: ToolResult | None = None
        self.response: tuple[Part, ...] = ()
        self.finished: CallFinished | None = None
        self.partial: ToolResult | None = None
        """What the tool has done so far, in case that the call is cancelled."""
        self.replaced: dict[str, bytes] = {}
        """What the editor had not saved of the files that the call replaces."""
        self.undo_problem = ""
        """Why the call cannot be undone. It runs only if the user has accepted that."""

    def keep_partial(self, partial: object) -> None:
        """Keep what the tool has done so far. Raises TypeError if it is no result."""
        self.partial = checked_result(self.request.name if self.tool is None else self.tool.name, partial)

    def log_end(self) -> float:
        """Log the end of the call, and return how long it ran, in seconds."""
        seconds = time.perf_counter() - self.started if self.started else 0.0
        error = None if self.result is None else self.result.error
        state = self.state if error is None else f"{self.state} ({error.type})"
        tools_logger.info("%s: %s, seconds: %.3f", self.request.name, state, seconds)
        return seconds


def final_state(result: ToolResult) -> CallState:
    """The state of a call with this result."""
    if result.error is None:
        return CallState.SUCCESS
    return CallState.CANCELLED if result.error.type is ErrorType.CANCELLED else CallState.ERROR


def cancelled_result(
    message: str, partial: ToolResult | None = None, *, reason: CancelReason = CancelReason.CANCELLED
) -> ToolResult:
    """The result of a call that was cancelled, or that a time limit ended, with what it had done until then."""
    message = CANCELLED_BY_TIMEOUT if reason is CancelReason.TIME_LIMIT else message
    error = ToolError(message, ErrorType.CANCELLED)
    if partial is None:
        return ToolResult(message, lazy("Cancelled."), error)
    return ToolResult(partial.llm_content, partial.return_display, error)


def stale_note(approved: Confirmation, result: ToolResult) -> str:
    """What the user is told when an approved change no longer fits."""
    if approved.type == "trial":
        return str(result.return_display)
    return _("The file changed in the meantime. This is the change against its current content.")

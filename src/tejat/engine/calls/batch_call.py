"""The state of a call while its batch runs."""

from typing import TYPE_CHECKING

from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall, Part
from tejat.core.tools.base import BaseTool, ToolResult
from tejat.core.tools.call_events import CallState

if TYPE_CHECKING:
    from tejat.core.agent.hooks import HookedCall


class BatchCall:
    """The state of one call."""

    __slots__ = ("hook_check", "index", "request", "response", "result", "started", "state", "tool", "undo_problem")

    def __init__(self, index: int, request: FunctionCall) -> None:
        self.index = index
        self.request = request
        self.tool: BaseTool | None = None
        self.hook_check: HookedCall | None = None
        self.state = CallState.VALIDATING
        self.started = 0.0
        self.result: ToolResult | None = None
        self.response: tuple[Part, ...] = ()
        self.undo_problem = ""
        """Why the call cannot be undone. It runs only if the user has accepted that."""


def final_state(result: ToolResult) -> CallState:
    """The state of a call with this result."""
    if result.error is None:
        return CallState.SUCCESS
    return CallState.CANCELLED if result.error.type is ErrorType.CANCELLED else CallState.ERROR

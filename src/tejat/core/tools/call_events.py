"""Events of running tool calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.frozen import Value
from tejat.core.messages.types import FunctionCall, FunctionResponse, Part
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.base import ToolResult
from tejat.core.ui.rich_value import RichValue

if TYPE_CHECKING:
    from tejat.core.tools.base import ToolResult

BY_USER = "the person"
"""The value of `allowed_by` for a call that the user approved."""

FEEDBACK_MARK = " They said: "
"""Stands before the user's own words in the error of a rejected call."""


class CallState(StrEnum):
    """The state of a call. The last one of every call is `success`, `error` or `cancelled`."""

    VALIDATING = "validating"
    AWAITING_APPROVAL = "awaiting_approval"
    SCHEDULED = "scheduled"
    EXECUTING = "executing"
    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"


class StateChanged(Value):
    """A new state of a call. `index` is its position in the batch: ids from a model may repeat."""

    index: int
    call: FunctionCall
    state: CallState


class OutputUpdated(Value):
    """Live output of a running call: all of it so far, or the end of it."""

    index: int
    call: FunctionCall
    output: str


class CallFinished(RichValue):
    """The last event of a call. `response` goes to the model; `allowed_by` names the rule or the user.

    `was_rejected`: the user was asked and did not allow it. `ended_turn`: the user stopped the turn.
    """

    index: int
    call: FunctionCall
    state: CallState
    result: ToolResult
    response: tuple[Part, ...]
    seconds: float
    allowed_by: str = ""
    was_rejected: bool = False
    ended_turn: bool = False

    @property
    def function_response(self) -> FunctionResponse:
        """The FunctionResponse for the model. Media follow it in `response` as parts of their own."""
        first = self.response[0]
        assert isinstance(first, FunctionResponse)
        return first


Event: TypeAlias = StateChanged | OutputUpdated | CallFinished
CallEventSink: TypeAlias = Callable[[Event], None]

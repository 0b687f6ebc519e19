"""What a front end can see of the calls while they run."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from tejat.core.frozen import frozen
from tejat.core.messages.types import FunctionCall, Part
from tejat.core.tools.base import ToolResult

BY_USER = "the person"
"""What `allowed_by` says of a call that was asked about."""


class CallState(StrEnum):
    VALIDATING = "validating"
    AWAITING_APPROVAL = "awaiting_approval"
    SCHEDULED = "scheduled"
    EXECUTING = "executing"
    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"


@frozen
class StateChanged:
    """`index` is the place of the call in its batch: a model may give the same id twice."""

    index: int
    call: FunctionCall
    state: CallState


@frozen
class OutputUpdated:
    """Live output of a running call: what the tool has shown so far, or the end of it."""

    index: int
    call: FunctionCall
    output: str


@frozen
class CallFinished:
    """The last event of a call. `response` is what goes to the model; `allowed_by` names the rule or the person.

    `was_refused`: the person was asked, and said no.
    """

    index: int
    call: FunctionCall
    state: CallState
    result: ToolResult
    response: tuple[Part, ...]
    seconds: float
    allowed_by: str = ""
    was_rejected: bool = False


Event: TypeAlias = StateChanged | OutputUpdated | CallFinished
CallEventSink: TypeAlias = Callable[[Event], None]

"""Plans that a model presents for approval, and the service that switches plan mode."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NoReturn, Protocol, TypeAlias

from tejat.core.approval.confirmation import ApprovalReply, PlanConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen, Value
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonValue
from tejat.core.text.digest import sha256
from tejat.core.text.str_enum import StrEnum


class Plan(Frozen):
    """A plan file and its content."""

    path: str
    text: str

    @property
    def digest(self) -> str:
        return sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()


class ApprovedPlan(Value):
    """An approved plan: its path, and its text at the time of approval (empty if it was too long to keep)."""

    path: str
    text: str


def parse_approved_plan(value: JsonValue) -> ApprovedPlan | None:
    """The approved plan in a value of the session state, None if there is none."""
    if not isinstance(value, Mapping):
        return None
    path, text = value.get("path"), value.get("text")
    return ApprovedPlan(path, text if isinstance(text, str) else "") if isinstance(path, str) and path else None


class PlanOutcome(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    STOPPED = "stopped"
    UNANSWERED = "unanswered"
    """Nobody can be asked in this run."""


class PlanDecision(Frozen):
    """The answer to a plan. `mode` is the one of an approval, `feedback` what the user said with a no."""

    outcome: PlanOutcome
    plan: Plan
    mode: ApprovalMode | None = None
    feedback: str = ""


AskAboutPlan: TypeAlias = Callable[[PlanConfirmation], Awaitable[ApprovalReply]]
"""Asks the user about a plan. Raises UserUnavailable."""


class PlanMode(Protocol):
    """Plan mode of a session, for tools."""

    @property
    def is_on(self) -> bool: ...

    def enter(self) -> str:
        """Switch to plan mode, and return what the model must be told about it, empty if its prompt does that.

        Raises ToolFailure if that is not possible.
        """
        ...

    async def review(self, file_name: str, ask: AskAboutPlan | None) -> PlanDecision:
        """Ask the user about the plan in a file. After an approval the mode has changed.

        `ask` is None if there is nobody to ask. Raises ToolFailure if there is no such plan file.
        """
        ...


class NoPlanMode:
    """Plan mode where there is no session to switch: calls of single tools."""

    is_on = False

    def enter(self) -> NoReturn:
        raise ToolFailure(lazy("Plan mode needs a session in which it is enabled."), ErrorType.EXECUTION_FAILED)

    async def review(self, file_name: str, ask: AskAboutPlan | None) -> NoReturn:
        raise ToolFailure(lazy("Plan mode needs a session in which it is enabled."), ErrorType.EXECUTION_FAILED)

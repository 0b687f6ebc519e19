"""Plans that a model presents for approval, and the service that switches plan mode."""

import hashlib
from enum import StrEnum
from typing import NoReturn, Protocol

from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import frozen
from tejat.core.i18n import lazy

ENTER_PLAN_MODE = "enter_plan_mode"
EXIT_PLAN_MODE = "exit_plan_mode"
PLAN_TOOLS = (ENTER_PLAN_MODE, EXIT_PLAN_MODE)


@frozen
class Plan:
    """A plan file and its content."""

    path: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()


class PlanOutcome(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    STOPPED = "stopped"
    UNANSWERED = "unanswered"
    """Nobody can be asked in this run."""


@frozen
class PlanDecision:
    """The answer to a plan. `mode` is the one of an approval, `feedback` what the user said with a no."""

    outcome: PlanOutcome
    plan: Plan
    mode: ApprovalMode | None = None
    feedback: str = ""


class PlanMode(Protocol):
    """Plan mode of a session, for tools."""

    @property
    def is_on(self) -> bool: ...

    def enter(self) -> None:
        """Switch to plan mode."""
        ...

    async def review(self, file_name: str) -> PlanDecision:
        """Ask the user about the plan in a file. After an approval the mode has changed.

        Raises ToolFailure if there is no such plan file.
        """
        ...


class NoPlanMode:
    """Plan mode where there is no session to switch: calls of single tools."""

    is_on = False

    def enter(self) -> NoReturn:
        raise ToolFailure(lazy("Plan mode needs a session."), ErrorType.EXECUTION_FAILED)

    async def review(self, file_name: str) -> NoReturn:
        raise ToolFailure(lazy("Plan mode needs a session."), ErrorType.EXECUTION_FAILED)

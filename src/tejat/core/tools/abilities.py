"""Further abilities of tools, which the permission looks for."""

from typing import Protocol, runtime_checkable

from tejat.core.approval.confirmation import Confirmation, Scope, TrialConfirmation
from tejat.core.messages.types import Params
from tejat.core.tools.base import ToolContext


@runtime_checkable
class ModifiableTool(Protocol):
    """A tool whose proposal the user may edit before approving it."""

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        """The arguments that propose `new_content` instead of what `confirmation` showed."""
        ...


@runtime_checkable
class RememberingTool(Protocol):
    """A tool that remembers an "always" itself, because it is about content that no rule can name."""

    def agreement(self, confirmation: Confirmation) -> str | None:
        """What an "always" would save, None if it cannot be saved."""
        ...

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        """Save an "always". Raises UsageError."""
        ...


@runtime_checkable
class TrialTool(Protocol):
    """A tool whose calls can be tried in a copy of the files."""

    async def can_try(self, confirmation: Confirmation) -> bool:
        """Whether a trial is possible here for this confirmation."""
        ...

    async def run_trial(self, confirmation: Confirmation, context: ToolContext) -> TrialConfirmation:
        """Run a call in a copy of the files. Raises ToolFailure if that is not possible.

        The trial ends when it is executed as the approved confirmation, or by `discard_trial`.
        """
        ...

    async def discard_trial(self, trial: TrialConfirmation) -> None:
        """Discard the copy."""
        ...

"""`activate_skill`: loads the instructions of a skill into the conversation."""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation, Scope
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.tools.descriptions import load_description
from tejat.tools.registry import ACTIVATE_SKILL


class SkillActivator(Protocol):
    """The skills of a session."""

    async def propose(self, name: str) -> InfoConfirmation | None:
        """What the user is asked before the skill is loaded, None for nothing. Raises ToolFailure."""
        ...

    async def activate(self, name: str, approved: Confirmation | None) -> ToolResult:
        """Load the skill, exactly as it was approved. Raises ToolFailure."""
        ...

    def agreement(self, confirmation: Confirmation) -> str | None:
        """What an "always" would save, None if it cannot be saved."""
        ...

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        """Save an "always". Raises UsageError."""
        ...


class ActivateSkillTool(BaseTool):
    """The tool for a fixed list of skills; a new instance is created when the list changes."""

    limits_own_output = True
    may_change_files = False

    def __init__(self, names: Sequence[str], skills: SkillActivator) -> None:
        super().__init__(
            name=ACTIVATE_SKILL,
            display_name="Activate Skill",
            description=load_description(ACTIVATE_SKILL),
            parameter_schema={
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The name of the skill.", "enum": tuple(names)}
                },
                "required": ("name",),
            },
            kind=Kind.OTHER,
        )
        self._skills = skills

    def validate_tool_params(self, params: object) -> str | None:
        """The name itself is looked up later, whatever its case, and answered with the names that exist."""
        name = cast("Params", params).get("name") if isinstance(params, Mapping) else None
        return None if isinstance(name, str) and name.strip() else lazy("params must have required property 'name'")

    def get_description(self, params: Params) -> str:
        return str(params.get("name", ""))

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return await self._skills.propose(str(params["name"]))

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return await self._skills.activate(str(params["name"]), context.approved)

    def agreement(self, confirmation: Confirmation) -> str | None:
        return self._skills.agreement(confirmation)

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        self._skills.remember(confirmation, scope)

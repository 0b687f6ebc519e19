"""Further abilities of tools are told by their methods."""

from tejat.core.approval.confirmation import Confirmation, Scope, TrialConfirmation
from tejat.core.messages.types import Params
from tejat.core.tools.abilities import ModifiableTool, RememberingTool, TrialTool
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult


class Plain(BaseTool):
    def __init__(self) -> None:
        super().__init__(name="plain", description="Does nothing.", parameter_schema={"type": "object"})

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return ToolResult("")


class Modifiable(Plain):
    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        return {**params, "content": new_content}


class Remembering(Plain):
    def agreement(self, confirmation: Confirmation) -> str | None:
        return confirmation.title

    def remember(self, confirmation: Confirmation, scope: Scope) -> None: ...


class Trial(Plain):
    async def can_try(self, confirmation: Confirmation) -> bool:
        return True

    async def run_trial(self, confirmation: Confirmation, context: ToolContext) -> TrialConfirmation:
        return TrialConfirmation("", "", "", (), "", "", 0)

    async def discard_trial(self, trial: TrialConfirmation) -> None: ...


ABILITIES = (ModifiableTool, RememberingTool, TrialTool)


def test_each_tool_has_its_ability_and_no_other() -> None:
    found = [
        [isinstance(tool, ability) for ability in ABILITIES] for tool in (Plain(), Modifiable(), Remembering(), Trial())
    ]
    assert found == [[False] * 3, [True, False, False], [False, True, False], [False, False, True]]

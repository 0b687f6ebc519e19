"""`enter_plan_mode`: switches the session to plan mode."""

from typing import Annotated

from tejat.core.approval.plans import PlanMode
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import ENTER_PLAN_MODE
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels

_SWITCHING = "Switching to Plan mode."


class EnterPlanModeParams(Frozen):
    reason: Annotated[str | None, Param("Why a plan is needed, in one sentence.")] = None


class EnterPlanModeTool(TypedTool[EnterPlanModeParams]):
    """Asks nobody, because plan mode only permits less."""

    error_label = "enter plan mode"
    may_change_files = False

    def __init__(self, plan_mode: PlanMode) -> None:
        labels = tool_labels(ENTER_PLAN_MODE, "Enter Plan Mode")
        super().__init__(**labels, parameters=EnterPlanModeParams, kind=Kind.PLAN)
        self._plan_mode = plan_mode

    def describe(self, params: EnterPlanModeParams) -> str:
        return params.reason or "Switching to plan mode"

    async def run(self, params: EnterPlanModeParams, context: ToolContext) -> ToolResult:
        if self._plan_mode.is_on:
            raise ToolFailure(lazy("You are already in Plan Mode."), ErrorType.EXECUTION_FAILED)
        content = "\n\n".join(filter(None, (_SWITCHING, self._plan_mode.enter())))
        reason = (params.reason or "").strip()
        return ToolResult(content, f"{_SWITCHING} {reason}".rstrip())

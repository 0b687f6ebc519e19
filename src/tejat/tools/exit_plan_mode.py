"""`exit_plan_mode`: asks the user to approve a plan, and leaves plan mode if they do."""

from typing import Annotated

from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import PlanDecision, PlanMode, PlanOutcome
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import EXIT_PLAN_MODE
from tejat.core.tools.base import ToolContext, ToolError, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params

_MODES = {
    ApprovalMode.AUTO_EDIT: "Auto-Edit mode (edits will be applied automatically)",
    ApprovalMode.DEFAULT: "Default mode (edits will require confirmation)",
}


class ExitPlanModeParams(Frozen):
    plan_filename: Annotated[str, Param("The plan file, such as `add-login.md`.", aliases=("plan_path",))]


class ExitPlanModeTool(TypedTool[ExitPlanModeParams]):
    """Every call asks, whatever the rules and the mode: only a person approves a plan."""

    error_label = "exit plan mode"
    may_change_files = False

    def __init__(self, plan_mode: PlanMode) -> None:
        labels = tool_labels(EXIT_PLAN_MODE, "Exit Plan Mode")
        super().__init__(**labels, parameters=ExitPlanModeParams, kind=Kind.PLAN)
        self._plan_mode = plan_mode

    def check(self, params: ExitPlanModeParams) -> None:
        if not params.plan_filename.strip():
            raise invalid_params(lazy("plan_filename is required."))

    def describe(self, params: ExitPlanModeParams) -> str:
        return f"Requesting plan approval for: {params.plan_filename}"

    async def run(self, params: ExitPlanModeParams, context: ToolContext) -> ToolResult:
        if not self._plan_mode.is_on:
            message = lazy("You are not currently in Plan Mode. Use enter_plan_mode first to design a plan.")
            raise ToolFailure(message, ErrorType.EXECUTION_FAILED)
        return _result(await self._plan_mode.review(params.plan_filename.strip(), context.ask))


def _result(decision: PlanDecision) -> ToolResult:
    path = decision.plan.path
    match decision.outcome:
        case PlanOutcome.APPROVED:
            return ToolResult(
                f"Plan approved. Switching to {_MODES[decision.mode or ApprovalMode.DEFAULT]}.\n\n"
                f"The approved implementation plan is stored at: {path}\n"
                "Read it if it is no longer in your context, and follow it strictly.",
                lazy("Plan approved: {path}", path=path),
            )
        case PlanOutcome.REJECTED if decision.feedback:
            return ToolResult(
                f"Plan rejected. User feedback: {decision.feedback}\n\nThe plan is stored at: {path}\n"
                "Plan mode continues. Revise the plan and present it again.",
                lazy("Plan rejected: {feedback}", feedback=decision.feedback),
            )
        case PlanOutcome.REJECTED:
            return ToolResult(
                f"Plan rejected. No feedback provided.\n\nThe plan is stored at: {path}\n"
                "Plan mode continues. Ask the user what to change.",
                lazy("Plan rejected."),
            )
        case PlanOutcome.STOPPED:
            message = "User cancelled the plan approval dialog. The plan is not approved. Plan mode continues."
            error = ToolError(message, ErrorType.CANCELLED)
            return ToolResult(message, lazy("Plan not approved."), error, final_answer="")
        case PlanOutcome.UNANSWERED:
            return ToolResult(
                f"Nobody can approve the plan in this run, so the run ends here. Plan mode continues.\n\n"
                f"The plan is stored at: {path}",
                lazy("The plan waits for approval: {path}", path=path),
                final_answer=decision.plan.text,
            )

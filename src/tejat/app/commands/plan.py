"""`/plan`: switch to plan mode, and show the plans of the session."""

import os
from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.policy import change_mode
from tejat.app.session.approval_mode import mode_refusal
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import ApprovedPlan, Plan
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction, SubmitPromptAction
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import MarkdownBlock, Paragraph, Report, ReportTable, Tone, text_report


class PlanCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        if refusal := mode_refusal(self.context.run_config, ApprovalMode.PLAN):
            raise UsageError(refusal)
        match arguments:
            case "show":
                user.show(_plan_report(self._current_plan()))
            case "copy":
                plan = self._current_plan()
                how = await user.copy(plan.text)
                user.show(text_report(_("Copied {path}: {how}", path=plan.path, how=how), Tone.GOOD))
            case "list":
                user.show(self._list_report())
            case _:
                return await self._start(arguments, user)
        return NoAction()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        options = [
            ("show", _("show the current plan")),
            ("copy", _("copy the current plan to the clipboard")),
            ("list", _("list the plans of this session")),
        ]
        return () if " " in typed else complete_from(typed, options)

    async def _start(self, goal: str, user: UserPrompter) -> CommandAction:
        """Switch to plan mode, and send the goal. Without one, show the approved plan."""
        if self.context.load_permission().policy.mode is not ApprovalMode.PLAN:
            await change_mode(self.context, ApprovalMode.PLAN, user)
        if goal:
            return SubmitPromptAction(goal, goal)
        approved = self._approved_plan()
        if approved is not None:
            user.show(_plan_report(approved))
        note = _("Ask for a plan, or type /plan GOAL. Shift-Tab to leave plan mode.")
        user.show(text_report(note, Tone.QUIET))
        return NoAction()

    def _approved_plan(self) -> Plan | None:
        """The approved plan as its file is now, or as it was approved if that cannot be read."""
        approved = self.context.manager.plan_mode.approved
        if approved is None:
            return None
        now = (plan for plan in self.context.manager.plan_mode.plans() if plan.path == approved.path)
        return next(now, Plan(approved.path, approved.text))

    def _current_plan(self) -> Plan:
        """The approved plan, else the newest one. Raises UsageError if there is none."""
        plan = self._approved_plan() or next(iter(self.context.manager.plan_mode.plans()), None)
        if plan is None:
            raise UsageError(_("No plan in this session yet. Type /plan GOAL to begin one."))
        return plan

    def _list_report(self) -> Report:
        mode = self.context.manager.plan_mode
        plans, approved = mode.plans(), mode.approved
        if not plans:
            return text_report(_("No plan in this session yet. Type /plan GOAL to begin one."), Tone.QUIET)
        rows = tuple(
            (os.path.basename(plan.path), _title(plan), _("approved") if _is(plan, approved) else "") for plan in plans
        )
        directory = os.path.dirname(plans[0].path)
        return Report(_("Plans"), (ReportTable(rows), Paragraph(directory, Tone.QUIET)))


def _is(plan: Plan, approved: ApprovedPlan | None) -> bool:
    return approved is not None and approved.path == plan.path


def _title(plan: Plan) -> str:
    """The first line of a plan that says something."""
    lines = (line.strip("# \t") for line in plan.text.splitlines())
    return next(filter(None, lines), "")


def _plan_report(plan: Plan) -> Report:
    return Report(_("Plan"), (MarkdownBlock(plan.text), Paragraph(plan.path, Tone.QUIET)))

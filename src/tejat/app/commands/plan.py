"""`/plan`: switch to plan mode."""

from tejat.app.commands.base import SlashCommand
from tejat.app.commands.policy import change_mode
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Tone, text_report


class PlanCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        if arguments:
            raise UsageError(_("Usage: {usage}", usage="/plan"))
        if self.context.load_permission().policy.mode is not ApprovalMode.PLAN:
            await change_mode(self.context, ApprovalMode.PLAN, user)
        note = _("Ask for a plan. To carry it out, press Shift-Tab or type /policy mode default.")
        user.show(text_report(note, Tone.QUIET))

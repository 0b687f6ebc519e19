"""`/vim`: switch Vim mode on or off."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone


class VimCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.lower():
            case "":
                enabled = not self.context.preferences.vi_mode
            case "on" | "true":
                enabled = True
            case "off" | "false":
                enabled = False
            case _:
                raise UsageError(_("Usage: {usage}", usage="/vim [on | off]"))
        report = write_setting(self.context, find_setting("general.vimMode"), enabled)
        if self.context.preferences.vi_mode is enabled:
            text = _("Vim mode on.") if enabled else _("Vim mode off.")
            report = Report(blocks=(Paragraph(text, Tone.GOOD), *report.blocks[1:]))
        user.show(report)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("on", ""), ("off", "")])

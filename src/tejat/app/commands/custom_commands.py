"""`/commands`: list and reload custom commands."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.registry import CommandRegistry
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone


class CustomCommandsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.lower():
            case "" | "list":
                user.show(self._list_report())
            case "reload" | "refresh":
                self.context.reload_custom_commands()
                user.show(self._reload_report())
            case _:
                raise UsageError(_("Usage: {usage}", usage="/commands [list | reload]"))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("list", _("all custom commands")), ("reload", _("read the files again"))])

    def _list_report(self) -> Report:
        custom, paths = self.context.custom_commands, self.context.run_config.paths
        rows = tuple(
            (f"/{command.name}", command.description, paths.abbreviate(command.path))
            for command in sorted(custom.commands.values(), key=lambda command: command.name)
        )
        blocks: list[ReportBlock] = []
        if rows:
            blocks.append(ReportTable(rows, (_("Command"), _("Description"), _("File"))))
        else:
            where = paths.abbreviate(paths.user_commands)
            text = _("No custom commands. Put a file such as review.toml into {path} or .gemini/commands.", path=where)
            blocks += [Paragraph(text), Paragraph(_("`tejat docs cli` explains the format."), Tone.QUIET)]
        return Report(_("Custom commands"), (*blocks, *self._problem_blocks()))

    def _reload_report(self) -> Report:
        count = len(self.context.custom_commands.commands)
        done = ngettext("Reloaded {count} custom command.", "Reloaded {count} custom commands.", count)
        return Report(blocks=(Paragraph(done, Tone.GOOD), *self._problem_blocks()))

    def _problem_blocks(self) -> list[ReportBlock]:
        blocks: list[ReportBlock] = [Paragraph(note, Tone.WARNING) for note in CommandRegistry(self.context).notes()]
        if untrusted := self.context.custom_commands.untrusted:
            text = ngettext(
                "{count} project command is not used: {reason}",
                "{count} project commands are not used: {reason}",
                len(untrusted),
                reason=self.context.run_config.trust.reason,
            )
            blocks += [Paragraph(text, Tone.WARNING), Paragraph(_("Use /permissions trust to decide."), Tone.QUIET)]
        return blocks

"""`/help`: list commands and keys, or explain one command."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.registry import CommandRegistry
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandSummary, CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone, text_report


class HelpCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        registry = CommandRegistry(self.context)
        summaries = registry.summaries()
        if not arguments:
            user.show(_overview(summaries, registry.notes()))
            return
        name = arguments.removeprefix("/").casefold()
        found = [each for each in summaries if name in (each.name.casefold(), *each.aliases)]
        unknown = _("There is no command {name}. /help shows all of them.", name=f"/{arguments.removeprefix('/')}")
        user.show(_command_help(found[0]) if found else text_report(unknown, Tone.BAD))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((each.name, each.summary) for each in CommandRegistry(self.context).summaries()))


def _overview(summaries: Sequence[CommandSummary], notes: Sequence[str]) -> Report:
    blocks: list[ReportBlock] = []
    for source in dict.fromkeys(("", *(each.source for each in summaries))):
        rows = tuple((_names(each), each.summary) for each in summaries if each.source == source)
        if rows:
            title = _("From {source}", source=source) if source else _("Commands")
            blocks += [Paragraph(title, Tone.STRONG), ReportTable(rows)]
    blocks += [Paragraph(note, Tone.WARNING) for note in notes]
    blocks += [
        Paragraph(_("/help COMMAND tells more about one of them."), Tone.QUIET),
        Paragraph(_("In a prompt"), Tone.STRONG),
        ReportTable(_prompt_syntax()),
        Paragraph(_("Keys"), Tone.STRONG),
        ReportTable(_keys()),
    ]
    return Report(blocks=tuple(blocks))


def _command_help(summary: CommandSummary) -> Report:
    blocks: list[ReportBlock] = [Paragraph(summary.summary)]
    if summary.usage:
        blocks.append(Paragraph(_("Usage: {usage}", usage=summary.usage)))
    if summary.aliases:
        names = ", ".join(f"/{alias}" for alias in summary.aliases)
        blocks.append(Paragraph(_("Also called {names}", names=names)))
    if summary.source:
        blocks.append(Paragraph(_("It comes from {source}.", source=summary.source)))
    return Report(f"/{summary.name}", tuple(blocks))


def _names(summary: CommandSummary) -> str:
    return ", ".join(f"/{name}" for name in (summary.name, *summary.aliases))


def _prompt_syntax() -> tuple[tuple[str, str], ...]:
    return (
        (_("@path"), _("adds a file or a directory; Tab completes the path")),
        (_("@server:uri"), _("adds a resource of an MCP server")),
        (_("!command"), _("runs a shell command yourself; what it prints joins the conversation")),
        ("!", _("alone: switches to a mode where every line is a shell command, and back")),
    )


def _keys() -> tuple[tuple[str, str], ...]:
    return (
        (_("Enter"), _("send; while work goes on, the line waits for its turn")),
        (_("Ctrl-S"), _("tell the model now, while it is at work")),
        (_("Alt-Enter, Ctrl-J"), _("a new line")),
        (_("Esc, Ctrl-C"), _("stop what is going on; Ctrl-C twice leaves")),
        (_("Ctrl-D"), _("leave, where the line is empty")),
        (_("Tab"), _("complete")),
        (_("Shift-Tab"), _("the next approval mode")),
        (_("Up, Down, Ctrl-R"), _("earlier lines; look for one")),
        (_("Ctrl-G"), _("write the line in your editor")),
        (_("Ctrl-O"), _("show all of the last output that was folded")),
    )

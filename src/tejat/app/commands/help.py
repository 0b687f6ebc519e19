"""`/help`: an overview of commands and keys on one screen, all of them, or one command."""

from collections.abc import Iterable, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.builtin import command_groups
from tejat.app.commands.registry import CommandRegistry
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandSummary, CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone


class HelpCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        registry = CommandRegistry(self.context)
        match arguments.removeprefix("/").casefold():
            case "":
                user.show(_overview(registry))
            case "all":
                user.show(_all_commands(registry))
            case "keys":
                user.show(Report(_("Keys"), (ReportTable(_keys()),)))
            case name:
                user.show(registry.describe(name))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        words = [("all", _("every command with its description")), ("keys", _("all keys"))]
        commands = ((each.name, each.summary) for each in CommandRegistry(self.context).summaries())
        return complete_from(typed, (*words, *commands))


def _overview(registry: CommandRegistry) -> Report:
    """Names of commands by group, prompt syntax and the main keys: fits on a screen of 80x24."""
    rows = [(group[0].group, _slash_names(group)) for group in command_groups()]
    for source, commands in _by_source(registry).items():
        rows.append((source, _slash_names(commands)))
    return Report(
        blocks=(
            ReportTable(tuple(rows)),
            ReportTable(
                (
                    (_("@path"), _("add a file or directory to the prompt")),
                    (_("!command"), _("run a shell command; ! alone switches to shell mode")),
                    (_("Esc"), _("stop the model")),
                    (_("Shift-Tab"), _("switch the approval mode")),
                    (_("Ctrl-J"), _("insert a new line")),
                )
            ),
            *(Paragraph(note, Tone.WARNING) for note in registry.notes()),
            Paragraph(_("/help all: every command; /help COMMAND: one command; /help keys: all keys."), Tone.QUIET),
        )
    )


def _all_commands(registry: CommandRegistry) -> Report:
    blocks: list[ReportBlock] = []
    for group in command_groups():
        blocks += _command_table(group[0].group, group)
    for source, commands in _by_source(registry).items():
        blocks += _command_table(source, commands)
    blocks += [Paragraph(note, Tone.WARNING) for note in registry.notes()]
    blocks += [
        Paragraph(_("In a prompt"), Tone.STRONG),
        ReportTable(_prompt_syntax()),
        Paragraph(_("Keys"), Tone.STRONG),
        ReportTable(_keys()),
    ]
    return Report(blocks=tuple(blocks))


def _command_table(title: str, commands: Iterable[CommandSummary]) -> list[ReportBlock]:
    rows = tuple((", ".join(f"/{name}" for name in (each.name, *each.aliases)), each.summary) for each in commands)
    return [Paragraph(title, Tone.STRONG), ReportTable(rows)]


def _by_source(registry: CommandRegistry) -> dict[str, list[CommandSummary]]:
    """Custom commands and MCP prompts by their source."""
    found: dict[str, list[CommandSummary]] = {}
    for summary in registry.summaries():
        if summary.source:
            found.setdefault(summary.source, []).append(summary)
    return found


def _slash_names(commands: Iterable[CommandSummary]) -> str:
    return " ".join(f"/{command.name}" for command in commands)


def _prompt_syntax() -> tuple[tuple[str, str], ...]:
    return (
        (_("@path"), _("add a file or directory; Tab completes the path")),
        (_("@server:uri"), _("add a resource of an MCP server")),
        (_("!command"), _("run a shell command; the model sees the output with your next prompt")),
        ("!", _("alone: switch to shell mode and back; every line is a shell command")),
    )


def _keys() -> tuple[tuple[str, str], ...]:
    return (
        (_("Enter"), _("send; while the model is working, queue the line")),
        (_("Ctrl-S"), _("send while the model is working, after its current tool call")),
        (_("Ctrl-J, Alt-Enter"), _("insert a new line; for Shift-Enter see /terminal-setup")),
        (_("Esc, Ctrl-C"), _("stop the model; Ctrl-C twice quits")),
        (_("Esc Esc"), _("clear the prompt; on an empty line, rewind the conversation")),
        (_("Ctrl-D"), _("quit, on an empty line")),
        (_("Tab"), _("complete")),
        (_("Shift-Tab"), _("switch to the next approval mode")),
        (_("Ctrl-Y"), _("turn YOLO mode on or off")),
        (_("Up, Down, Ctrl-R"), _("earlier prompts; search them")),
        (_("Ctrl-G"), _("edit the prompt in your editor")),
        (_("Ctrl-O"), _("show the last collapsed output in full")),
        (_("Ctrl-T"), _("show or hide the todo list of the model")),
    )

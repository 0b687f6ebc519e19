"""`/tools`: tools that are built in, from plugins or from the discovery command."""

from collections.abc import Iterator, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.provenance import ToolSource
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report
from tejat.tools.registry import ToolEntry


class ToolsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.lower():
            case "" | "nodesc":
                lines = [f"  - {entry.display_name} ({entry.name})" for entry in self._entries()]
            case "desc" | "descriptions":
                lines = [line for entry in self._entries() for line in _description_lines(entry)]
            case _:
                raise UsageError(_("Usage: {usage}", usage="/tools [desc | nodesc]"))
        text = "\n".join(lines) if lines else _("  No tools available")
        user.show(Report(_("Available tools:"), (Paragraph(text),)))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("desc", _("with descriptions")), ("nodesc", _("names only"))])

    def _entries(self) -> list[ToolEntry]:
        """The tools that the model is told of, without those of MCP servers, which `/mcp` shows."""
        tools = self.context.toolset
        return [
            entry
            for entry in tools.registry.entries()
            if entry.is_declared()
            and entry.source is not ToolSource.MCP
            and not tools.is_forbidden(entry.own_name, entry.server)
        ]


def _description_lines(entry: ToolEntry) -> Iterator[str]:
    yield f"  - {entry.display_name} ({entry.name})"
    for line in entry.declaration.description.strip().splitlines():
        yield f"      {line}".rstrip()

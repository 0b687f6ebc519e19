"""`/docs`: an index of the documentation."""

from tejat.app.commands.base import SlashCommand
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportTable


class DocsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments
        pages = (
            ("agent.md", _("the agent: prompts, sessions, context files, custom commands")),
            ("cli.md", _("the command line")),
            ("commands.md", _("what can be typed after a slash")),
            ("hooks.md", _("commands that run around tools and prompts")),
            ("mcp.md", _("MCP servers")),
            ("models.md", _("models, keys and costs")),
            ("policy.md", _("rules: what may run without asking")),
            ("python.md", _("Tejat as a library")),
            ("sandbox.md", _("the sandbox around commands")),
            ("settings.md", _("settings, variables and trust")),
            ("terminal.md", _("the terminal: keys, questions, colours, screen readers")),
            ("tools.md", _("the tools")),
            ("undo.md", _("taking back changes")),
        )
        where = Paragraph(_("The documentation is in the directory docs of the source code:"))
        user.show(Report(_("Documentation"), (where, ReportTable(pages))))

"""`/bug`: a defect report to file."""

from urllib.parse import quote

from tejat.app.commands.about import environment_facts
from tejat.app.commands.base import SlashCommand
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, SourceListing


class BugCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        if not arguments:
            raise UsageError(_("Usage: {usage}", usage="/bug TITLE"))
        facts = "\n".join(f"{name}: {value}" for name, value in environment_facts(self.context))
        template = self.context.run_config.settings.bug_command
        if template is None:
            blocks = (
                Paragraph(_("Nothing was sent. Copy this into your report:")),
                SourceListing(f"{arguments}\n\n{facts}"),
            )
        else:
            address = template.value.replace("{title}", quote(arguments, safe="")).replace(
                "{info}", quote(facts, safe="")
            )
            blocks = (Paragraph(_("Nothing was sent. Open this address to file the report:")), SourceListing(address))
        user.show(Report(blocks=blocks))

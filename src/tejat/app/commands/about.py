"""`/about`, `/bug` and `/docs`: what runs here, how to report a defect, where to read more."""

import os
import platform
from urllib.parse import quote

from tejat import __version__
from tejat.app.commands.base import SlashCommand
from tejat.app.doctor import configuration_checks
from tejat.config.settings.types import Setting
from tejat.core.agent.events import EventSink
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _, join_lazy
from tejat.core.ui.commands import CommandAction, NoAction
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportTable, SourceListing, Tone


class AboutCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del arguments, emit
        run_config, given = self.context.run_config, self.context.manager.options.environment
        # The model that is asked now may be another one than the settings name.
        asked = Setting(self.context.session.conversation.model.name, _("asked now"))
        run_config = replace(run_config, settings=replace(run_config.settings, model_name=asked))
        own = os.environ if given is None else given
        checks = configuration_checks(run_config, process_environment=own, default_model=asked.value)
        rows = [(join_lazy(": ", (check.group, check.name)), check.detail) for check in checks]
        blocks = (
            ReportTable(tuple(_facts(self))),
            Paragraph(_("What it goes by"), Tone.STRONG),
            ReportTable(tuple(rows)),
        )
        user.show(Report(_("About Tejat"), blocks))
        return NoAction()


class BugCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        if not arguments:
            raise UsageError(_("Usage: {usage}", usage="/bug TITLE"))
        facts = "\n".join(f"{name}: {told}" for name, told in _facts(self))
        template = self.context.run_config.settings.bug_command
        if template is None:
            blocks = (
                Paragraph(_("Nothing was sent. Put this into your report:")),
                SourceListing(f"{arguments}\n\n{facts}"),
            )
        else:
            address = template.value.replace("{title}", quote(arguments, safe="")).replace(
                "{info}", quote(facts, safe="")
            )
            blocks = (Paragraph(_("Nothing was sent. Open this address to report it:")), SourceListing(address))
        user.show(Report(blocks=blocks))
        return NoAction()


class DocsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del arguments, emit
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
        return NoAction()


def _facts(command: SlashCommand) -> list[tuple[str, str]]:
    """What helps to understand a report. Nothing secret is among it."""
    context = command.context
    return [
        (_("Tejat"), __version__),
        (_("Python"), platform.python_version()),
        (_("System"), f"{platform.system()} {platform.release()} {platform.machine()}"),
        (_("Model"), context.session.conversation.model.name),
        (_("Mode"), context.toolset.session.scheduler.permission.policy.mode.value),
        (_("Sandbox"), context.toolset.services.sandbox.value),
        (_("Session"), context.session.session_id),
    ]

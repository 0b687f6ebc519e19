"""`/about`: version, model, sandbox and configuration sources."""

import os
import platform
from collections.abc import Sequence

from tejat import __version__
from tejat.app.commands.base import CommandContext, SlashCommand, complete_from
from tejat.app.setup.doctor import configuration_checks
from tejat.app.setup.setup_report import setup_report
from tejat.config.settings.types import Setting
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _, join_lazy
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportTable, Tone

_SETUP = "setup"


class AboutCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        if arguments:
            self._show_setup(arguments, user)
            return
        run_config, environment = self.context.run_config, self.context.manager.options.environment
        # The current model may differ from the one in the settings.
        current = Setting(self.context.conversation.model.name, _("current"))
        run_config = replace(run_config, settings=replace(run_config.settings, model_name=current))
        process_environment = os.environ if environment is None else environment
        checks = configuration_checks(run_config, process_environment=process_environment, default_model=current.value)
        rows = [(join_lazy(": ", (check.group, check.name)), check.detail) for check in checks]
        blocks = (
            ReportTable(tuple(environment_facts(self.context))),
            Paragraph(_("Configuration"), Tone.STRONG),
            ReportTable(tuple(rows)),
        )
        user.show(Report(_("About Tejat"), blocks))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [(_SETUP, _("what was carried over from Gemini CLI"))])

    def _show_setup(self, arguments: str, user: UserPrompter) -> None:
        if arguments.casefold() != _SETUP:
            raise UsageError(_("Usage: /about [setup]"))
        user.show(setup_report(self.context.run_config).to_report())


def environment_facts(context: CommandContext) -> list[tuple[str, str]]:
    """Facts that help to understand a defect report. They contain no secrets."""
    services = context.toolset.services
    is_missing = services.sandbox.mode is not SandboxMode.OFF and not services.sandbox.name
    return [
        (_("Tejat"), __version__),
        (_("Python"), platform.python_version()),
        (_("System"), f"{platform.system()} {platform.release()} {platform.machine()}"),
        (_("Model"), context.session.conversation.model.name),
        (_("Mode"), context.mode),
        (_("Sandbox"), _("NO SANDBOX") if is_missing else services.sandbox.name or services.sandbox.mode.value),
        (_("Session"), context.session.session_id),
    ]

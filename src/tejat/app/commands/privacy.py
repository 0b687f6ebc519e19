"""`/privacy`: what is sent where, and what is stored on this machine."""

from collections.abc import Iterator

from tejat.app.commands.base import SlashCommand
from tejat.app.diagnostics.telemetry import telemetry_options
from tejat.app.setup.doctor import address_origin, service_address
from tejat.config.settings.types import configured_servers
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportTable, Tone
from tejat.models.names import Provider, parse_model_name

_LOCAL_PROVIDERS = (Provider.OLLAMA, Provider.SCRIPTED)


class PrivacyCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments
        run_config = self.context.run_config
        blocks = (
            Paragraph(_("Sent over the network"), Tone.STRONG),
            ReportTable(tuple(self._sent())),
            Paragraph(_("Stored on this machine, readable only by you"), Tone.STRONG),
            ReportTable(tuple(self._stored())),
            Paragraph(
                _("API keys are masked in sessions, logs and exports. The model service has its own privacy terms."),
                Tone.QUIET,
            ),
            Paragraph(_("Delete sessions with `tejat sessions delete`, keys with /login remove."), Tone.QUIET),
        )
        user.show(Report(_("Privacy in {folder}", folder=run_config.paths.abbreviate(run_config.roots[0])), blocks))

    def _sent(self) -> Iterator[tuple[str, str]]:
        yield _("Model"), self._model_text()
        settings = self.context.run_config.settings
        if settings.search_url is not None:
            yield _("Web search"), _("search terms to {address}", address=address_origin(settings.search_url.value))
        elif "google_web_search" in self.context.registry:
            yield _("Web search"), _("search terms to the model service")
        if "web_fetch" in self.context.registry:
            yield _("Web pages"), _("requests to the addresses that you approve")
        servers = configured_servers(settings)
        if servers:
            yield _("MCP servers"), _("arguments of their tool calls: {names}", names=", ".join(servers))
        yield _("Telemetry"), self._telemetry_text()

    def _model_text(self) -> str:
        model, run_config = self.context.conversation.model.name, self.context.run_config
        provider = parse_model_name(model, run_config.environment)[0]
        address = service_address(model, run_config)
        if provider in _LOCAL_PROVIDERS and address is None:
            return _("nothing leaves this machine: {model} is local", model=model)
        where = provider.value if address is None else address_origin(address.value)
        return _("prompts, files that the model reads and tool results to {where} ({model})", where=where, model=model)

    def _telemetry_text(self) -> str:
        run_config = self.context.run_config
        try:
            options = telemetry_options(run_config.settings, run_config.environment, run_config.roots[0])
        except ConfigurationError as error:
            return str(error)
        if options.outfile is None:
            return _("off; nothing is ever sent")
        if options.logs_prompts:
            return _("nothing is sent; events with prompts are written to {path}", path=options.outfile)
        return _("nothing is sent; events without prompts are written to {path}", path=options.outfile)

    def _stored(self) -> Iterator[tuple[str, str]]:
        paths = self.context.run_config.paths
        for name, path in (
            (_("Sessions"), paths.sessions),
            (_("Undo contents"), paths.undo),
            (_("Saved chats"), paths.chats),
            (_("Background output"), paths.jobs),
            (_("API keys"), paths.credentials),
            (_("Memory"), self.context.toolset.services.memory().path),
        ):
            yield name, paths.abbreviate(path)

"""`/mcp`: MCP servers with their state and tools; log in, reconnect, switch on or off."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.mcp.login import ServerLogin
from tejat.app.mcp.server_plan import configured_secrets
from tejat.config.mcp.enablement import set_server_enabled
from tejat.config.settings.admin import require_mcp_enabled
from tejat.config.settings.types import configured_servers
from tejat.core.errors import UsageError
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, SourceListing, Tone, text_report
from tejat.engine.calls.secret_mask import SecretMask
from tejat.mcp.errors import McpFailure
from tejat.mcp.types import ServerState, ServerStatus
from tejat.tools.registry import ToolEntry

USAGE = "/mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"
_MAX_STDERR_LINES = 3


class ToolDetail(StrEnum):
    """How much of each tool to show."""

    NAMES = "names"
    DESCRIPTIONS = "descriptions"
    SCHEMAS = "schemas"


class McpCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.split():
            case [] | ["list" | "nodesc"]:
                self._show(user, ToolDetail.NAMES)
            case ["desc" | "descriptions"]:
                self._show(user, ToolDetail.DESCRIPTIONS)
            case ["schema"]:
                self._show(user, ToolDetail.SCHEMAS)
            case ["refresh" | "reload"]:
                await self._refresh(user)
            case ["auth", name]:
                await self._log_in(name, user)
            case [("enable" | "disable") as word, name]:
                self._switch(name, user, on=word == "enable")
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if blank:
            takes_name = word in ("auth", "enable", "disable")
            names = configured_servers(self.context.run_config.settings) if takes_name else ()
            return complete_from(rest, ((name, "") for name in names))
        options = [
            ("list", _("servers and the names of their tools")),
            ("desc", _("with descriptions")),
            ("nodesc", _("names only")),
            ("schema", _("with descriptions and parameters")),
            ("auth", _("log in to a server")),
            ("refresh", _("reconnect all servers")),
            ("enable", _("enable a server from the next session on")),
            ("disable", _("disable a server from the next session on")),
        ]
        return complete_from(word, options)

    def _show(self, user: UserPrompter, detail: ToolDetail) -> None:
        configured = configured_servers(self.context.run_config.settings)
        if not configured:
            user.show(text_report(_("No MCP servers configured. Add one with `tejat mcp add`. See `tejat docs mcp`.")))
            return
        servers = self.context.mcp_manager
        statuses = () if servers is None else servers.statuses()
        connecting = [status for status in statuses if status.state is ServerState.CONNECTING]
        starting = len(configured if servers is None else connecting)
        blocks: list[ReportBlock] = []
        if starting:
            waiting = _("MCP servers are starting up ({count} initializing)...", count=starting)
            note = _("Note: First startup may take longer. Tool availability will update automatically.")
            blocks += [Paragraph(waiting, Tone.WARNING), Paragraph(note, Tone.QUIET)]
        for status in statuses:
            blocks += self._server_blocks(status, detail)
        user.show(Report(_("Configured MCP servers:"), tuple(blocks)))

    def _server_blocks(self, status: ServerStatus, detail: ToolDetail) -> list[ReportBlock]:
        run_config = self.context.run_config
        mask = SecretMask({**run_config.named_secrets, **configured_secrets(run_config.settings)})
        tools = self.context.registry.tools_by_server(status.alias)
        label, tone = _STATE_LABELS[status.state]
        title = f"{status.alias} - {translate(label)}{_tool_count(status.state, len(tools))}"
        blocks: list[ReportBlock] = [Paragraph(title, tone)]
        if status.state in (ServerState.CONNECTED, ServerState.DISCONNECTED):
            blocks += _tool_blocks(tools, detail)
        if status.features.prompts:
            names = ", ".join(prompt.name for prompt in status.features.prompts)
            blocks.append(Paragraph(_("  Prompts: {names}", names=names)))
        if status.features.resources:
            blocks.append(Paragraph(_("  Resources: {count}", count=f"{len(status.features.resources):,}")))
        if status.reason:
            lines = (status.reason, *status.recent_output[-_MAX_STDERR_LINES:])
            blocks.append(Paragraph("\n".join(f"  {translate(mask.mask_text(line))}" for line in lines), Tone.QUIET))
        if status.state is ServerState.NEEDS_LOGIN:
            blocks.append(Paragraph(_("  Log in with /mcp auth {name}", name=status.alias), Tone.WARNING))
        return blocks

    async def _refresh(self, user: UserPrompter) -> None:
        servers = self.context.mcp_manager
        if servers is not None:
            user.show(text_report(_("Restarting MCP servers..."), Tone.QUIET))
            await servers.reconnect()
        self._show(user, ToolDetail.NAMES)

    async def _log_in(self, name: str, user: UserPrompter) -> None:
        login = ServerLogin(name, self.context.run_config)

        async def show(address: str) -> None:
            user.show(
                Report(blocks=(Paragraph(_("Open this address in a browser to log in:")), SourceListing(address)))
            )

        async def read_address() -> str:
            pasted = await user.enter(_("If the browser runs on another machine, paste the address it ends at"))
            if pasted is None:
                user.show(text_report(_("Waiting for the browser. Ctrl-C to cancel."), Tone.QUIET))
            return pasted or ""

        try:
            await login.log_in(show, read_address)
        except McpFailure as failure:
            user.show(text_report(failure.message, Tone.BAD))
            return
        message = _("Logged in to {name}. Credentials are stored in {directory}", name=name, directory=login.directory)
        user.show(text_report(message, Tone.GOOD))
        if self.context.mcp_manager is not None:
            await self.context.mcp_manager.reconnect(name)

    def _switch(self, name: str, user: UserPrompter, *, on: bool) -> None:
        if on:
            require_mcp_enabled(self.context.run_config.settings)
        known = configured_servers(self.context.run_config.settings)
        if name not in known:
            names = ", ".join(known) or _("none")
            raise UsageError(_("Unknown MCP server {name}. Known: {names}.", name=name, names=names))
        if not set_server_enabled(self.context.run_config.paths, name, enabled=on):
            text = _("{name} is already enabled.", name=name) if on else _("{name} is already disabled.", name=name)
        elif on:
            text = _("{name} is enabled. It starts with the next session.", name=name)
        else:
            text = _("{name} is disabled from the next session on.", name=name)
        user.show(text_report(text))


_STATE_LABELS = {
    ServerState.CONNECTED: (lazy("Ready"), Tone.GOOD),
    ServerState.CONNECTING: (lazy("Starting... (first startup may take longer)"), Tone.WARNING),
    ServerState.DISCONNECTED: (lazy("Disconnected"), Tone.BAD),
    ServerState.NEEDS_LOGIN: (lazy("Login required"), Tone.WARNING),
    ServerState.BLOCKED: (lazy("Not started"), Tone.WARNING),
    ServerState.DISABLED: (lazy("Disabled"), Tone.QUIET),
}


def _tool_count(state: ServerState, tools: int) -> str:
    match state:
        case ServerState.CONNECTED:
            return " " + ngettext("({count} tool)", "({count} tools)", tools)
        case ServerState.CONNECTING:
            return " " + _("(tools will appear when ready)")
        case _ if tools:
            return " " + ngettext("({count} tool cached)", "({count} tools cached)", tools)
        case _:
            return ""


def _tool_blocks(tools: Sequence[ToolEntry], detail: ToolDetail) -> list[ReportBlock]:
    if not tools:
        return [Paragraph(_("  No tools available"))]
    if detail is ToolDetail.NAMES:
        return [Paragraph("\n".join(f"  - {entry.name}" for entry in tools))]
    blocks: list[ReportBlock] = []
    for entry in tools:
        lines = [f"  - {entry.name}"]
        lines += [f"      {line}".rstrip() for line in entry.declaration.description.strip().splitlines()]
        if detail is ToolDetail.SCHEMAS:
            lines.append(_("      Parameters:"))
        blocks.append(Paragraph("\n".join(lines)))
        if detail is ToolDetail.SCHEMAS:
            blocks.append(SourceListing(dump_json(entry.declaration.parameters_json_schema, indent=2), "json"))
    return blocks

"""MCP servers of a sub-agent's own, which run as long as it does."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager

from tejat.app.mcp.manager import McpManager
from tejat.app.mcp.request_gate import RequestGate
from tejat.app.run_config import RunConfig
from tejat.app.tools.external_tools import AskUser, ExternalToolContext
from tejat.app.tools.tool_services import ToolServices
from tejat.config.env_expansion import env_resolver
from tejat.config.jsonc import parse_jsonc
from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingsError, SettingsFile, SettingValue
from tejat.config.settings.types import McpServer, Setting, configured_servers
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.provenance import Party
from tejat.tools.registry import ToolRegistry

_TIERS = {Party.PROJECT: SourceTier.WORKSPACE, Party.EXTENSION: SourceTier.EXTENSION}


@asynccontextmanager
async def open_agent_servers(
    definition: SubagentDefinition,
    run_config: RunConfig,
    services: ToolServices,
    registry: ToolRegistry,
    ask_user: AskUser | None,
    notify: Callable[[str], None],
) -> AsyncGenerator[None]:
    """Start the servers of an agent, add their tools to its registry, and end them.

    The rules for servers of the session hold for these too. No call of them goes without approval by itself. `notify`
    gets the reason for each server that is not used.
    """
    servers = dict(_usable_servers(definition, run_config, notify))
    if not servers:
        yield
        return
    settings = replace(run_config.settings, mcp_servers=servers, mcp_server_command=None, mcp_name_conflicts=())
    gate = RequestGate()
    context = ExternalToolContext(replace(run_config, settings=settings), services, registry, ask_user)
    manager = McpManager(context, notify, request_gate=gate)
    try:
        manager.start()
        await manager.wait_settled(None)
        yield
    finally:
        await gate.close()
        await manager.close()


def _usable_servers(
    definition: SubagentDefinition, run_config: RunConfig, notify: Callable[[str], None]
) -> Iterator[tuple[str, Setting[McpServer]]]:
    taken = configured_servers(run_config.settings)
    for alias in definition.servers:
        if alias in taken:
            message = _(
                "MCP server {server} of the agent {agent} is not started: the session has a server of this name.",
                server=alias,
                agent=definition.name,
            )
            notify(message)
            continue
        try:
            yield alias, _parse_server(alias, definition, run_config)
        except SettingsError as error:
            message = _(
                "MCP server {server} of the agent {agent} is not started: {why}",
                server=alias,
                agent=definition.name,
                why=error.problem,
            )
            notify(message)


def _parse_server(alias: str, definition: SubagentDefinition, run_config: RunConfig) -> Setting[McpServer]:
    """Raises SettingsError."""
    tier = _TIERS.get(definition.provenance.party, SourceTier.USER)
    node = parse_jsonc(dump_json(definition.servers[alias]))
    resolve = env_resolver(run_config.reference_variables(tier), tier)
    value = SettingValue(SettingsFile(definition.provenance.path, tier, {alias: node}, resolve), alias, node)
    server = replace(parse_mcp_server(value), is_trusted=False, may_sample=False)
    return Setting(server, definition.provenance.path, tier)

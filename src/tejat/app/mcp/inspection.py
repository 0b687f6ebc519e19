"""A probe of the configured MCP servers for `tejat mcp list` and `tejat mcp test`."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial

from tejat import __version__
from tejat.app.mcp.manager import register_server_tools, token_store
from tejat.app.mcp.server_plan import (
    ConnectionDeps,
    configured_secrets,
    plan_servers,
    to_mcp_root,
)
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.listed_tools import builtin_registry
from tejat.app.tools.tool_services import ToolServices
from tejat.config.settings.admin import mcp_disabled_message, require_mcp_enabled
from tejat.config.settings.types import McpServer, Setting, configured_servers
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.engine.calls.secret_mask import SecretMask
from tejat.mcp.client import ServerPlan
from tejat.mcp.client_pool import InactiveServer, McpClientPool
from tejat.mcp.errors import McpFailure
from tejat.mcp.features.tool_pins import ToolPins
from tejat.mcp.oauth.credentials import create_oauth_credentials
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.remote import create_remote_transport
from tejat.mcp.transports.server_kind import uses_url
from tejat.mcp.types import ClientCallbacks, ServerState, ServerStatus
from tejat.workspace.context import Workspace
from tejat.workspace.http.client import HttpClient
from tejat.workspace.threads.pool import shutdown


class OfferedTool(Frozen):
    """A tool as a session would register it, with its estimated tokens per request."""

    name: str
    tokens: int
    has_changed: bool
    """Whether it changed since a call of it was last allowed."""


class ServerOffer(Frozen):
    """What a session would use of a server. `problems` explains what is left out."""

    tools: tuple[OfferedTool, ...]
    problems: tuple[str, ...]


@asynccontextmanager
async def open_server_probe(
    directories: Sequence[str], *, only: str | None = None, on_change: Callable[[ServerStatus], None] = lambda _: None
) -> "AsyncGenerator[ServerProbe]":
    """Open a probe of the servers, or of `only` one of them, not started yet. All are stopped at the end.

    Raises UsageError, NoSuchServer if none is called `only`, ConfigurationError if that one could never be started.
    """
    run_config = load_run_config(directories)
    if only is not None:
        require_mcp_enabled(run_config.settings)
        find_server(run_config, only)
    async with _connection_deps(run_config) as deps:
        servers = ServerProbe(run_config, deps, only=only, on_change=on_change)
        try:
            yield servers
        finally:
            await servers.close()


class NoSuchServer(UsageError):
    """No server of this name is configured. `known` are the configured ones; `notes` may explain it."""

    def __init__(self, name: str, known: tuple[str, ...], notes: tuple[str, ...]) -> None:
        super().__init__(_('There is no MCP server "{name}" in the settings.', name=name))
        self.name = name
        self.known = known
        self.notes = notes


@asynccontextmanager
async def _connection_deps(run_config: RunConfig) -> AsyncGenerator[ConnectionDeps]:
    http = HttpClient(environment=run_config.environment)
    store = token_store(run_config.paths)
    with ExitStack() as stack:
        workspace = stack.enter_context(Workspace(run_config.roots))
        services = stack.enter_context(ToolServices(workspace, run_config, None))
        try:
            yield ConnectionDeps(
                services.supervisor,
                http,
                services.sandbox.wrap,
                partial(create_oauth_credentials, client=http, store=store),
                services.variable_lists,
                in_container=services.sandbox.container_wrapper is not None,
            )
        finally:
            await http.close()
            await shutdown()


class ServerProbe:
    """Connects servers once and reports what came of it. `notes` are for the user.

    Texts from servers have secrets masked but are not sanitized.
    """

    def __init__(
        self,
        run_config: RunConfig,
        deps: ConnectionDeps,
        *,
        only: str | None,
        on_change: Callable[[ServerStatus], None],
    ) -> None:
        settings = run_config.settings
        self.notes = (
            run_config.notes if settings.mcp_enabled.value else (*run_config.notes, mcp_disabled_message(settings))
        )
        self._settings = configured_servers(run_config.settings)
        self._mask = SecretMask({**run_config.named_secrets, **configured_secrets(run_config.settings)})
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._transports: dict[str, Transport] = {}
        self._pins = ToolPins(run_config.paths.mcp_tool_pins(run_config.roots[0]))
        self._registry = builtin_registry()
        plans = [
            self._with_transport_capture(plan) for plan in plan_servers(run_config, deps) if only in (None, plan.alias)
        ]
        host = ClientCallbacks(roots=lambda: [to_mcp_root(os.path.realpath(path)) for path in run_config.roots])
        self._pool = McpClientPool(plans, host, version=__version__, on_change=self._on_status)

    def source(self, alias: str) -> str:
        """The place in the settings that configures the server."""
        return self._settings[alias].source

    def warning(self, alias: str) -> str:
        """A warning about the way the server is reached, or an empty string."""
        server = self._settings[alias].value
        try:
            return create_remote_transport(server, HttpClient(environment={})).warning if uses_url(server) else ""
        except McpFailure:
            return ""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """The current statuses in the order of the settings."""
        return tuple(map(self._mask_status, self._pool.statuses()))

    async def connect_all(self) -> AsyncIterator[ServerStatus]:
        """Connect all servers and yield their statuses in the order of the settings, each as soon as it is settled.

        It takes no longer than the time limits of the servers.
        """
        self._pool.start()
        for number in range(len(self._pool.statuses())):
            while (status := self.statuses()[number]).state is ServerState.CONNECTING:
                self._changed.clear()
                await self._changed.wait()
            yield status

    def offer(self, status: ServerStatus) -> ServerOffer:
        """What a session would use of a connected server."""
        server, settings = self._pool.clients[status.alias], self._settings[status.alias].value
        found = register_server_tools(self._registry, server, status.features, settings, self._pins)
        tools = (
            OfferedTool(tool.name, estimate_declaration_tokens(tool.schema), tool.has_changed) for tool in found.tools
        )
        return ServerOffer(tuple(tools), found.problems)

    def stderr_tail(self, alias: str) -> tuple[str, ...]:
        """The last lines of the server's standard error."""
        lines = self._transports[alias].stderr_tail if alias in self._transports else ()
        return tuple(map(self._mask.mask_text, lines))

    async def close(self) -> None:
        await self._pool.close()

    def _with_transport_capture(self, plan: ServerPlan | InactiveServer) -> ServerPlan | InactiveServer:
        if isinstance(plan, InactiveServer):
            return plan

        def connect() -> Transport:
            self._transports[plan.alias] = transport = plan.connect()
            return transport

        return replace(plan, connect=connect)

    def _on_status(self, status: ServerStatus) -> None:
        self._changed.set()
        self._on_change(self._mask_status(status))

    def _mask_status(self, status: ServerStatus) -> ServerStatus:
        lines = tuple(map(self._mask.mask_text, status.recent_output))
        return replace(status, reason=self._mask.mask_text(status.reason), recent_output=lines)


def find_server(run_config: RunConfig, name: str) -> Setting[McpServer]:
    """Find a configured server. Raises NoSuchServer."""
    servers = configured_servers(run_config.settings)
    if name not in servers:
        raise NoSuchServer(name, tuple(servers), run_config.notes)
    return servers[name]

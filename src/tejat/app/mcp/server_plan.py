"""The connection plan: which MCP servers may be started, and how each is reached."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from tejat.app.run_config import RunConfig
from tejat.config.env_expansion import is_secret
from tejat.config.extensions.active import ActiveExtension
from tejat.config.mcp.enablement import disabled_servers, is_disabled
from tejat.config.paths import SourceTier
from tejat.config.settings.admin import mcp_disabled_message, unlisted_source
from tejat.config.settings.types import McpServer, Setting, Settings, configured_servers
from tejat.core.errors import UsageError
from tejat.core.i18n import _, lazy
from tejat.core.sanitize import sanitize_text
from tejat.mcp.client import ServerPlan
from tejat.mcp.client_pool import InactiveServer
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.names import alias_problem
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.server_kind import uses_url
from tejat.mcp.transports.stdio_factory import create_stdio_transport
from tejat.mcp.types import McpRoot, ServerState
from tejat.workspace.http.client import HttpClient

if TYPE_CHECKING:
    from tejat.config.trust.pinned_commands import PinnedCommand
    from tejat.mcp.transports.http_channel import HttpCredentials
    from tejat.mcp.transports.stdio import SandboxWrapper
    from tejat.workspace.processes.environment import VariableLists
    from tejat.workspace.processes.supervisor_client import ProcessSupervisor

CredentialsProvider = Callable[[str, McpServer], "HttpCredentials | None"]


class ConnectionDeps(NamedTuple):
    """What connecting needs: process supervisor, HTTP client, sandbox, credentials, variables of programs.

    `in_container` is whether the sandbox is a container, which then all servers with a command run in.
    """

    supervisor: "ProcessSupervisor"
    http: HttpClient
    wrap: "SandboxWrapper"
    get_credentials: CredentialsProvider
    variable_lists: "VariableLists"
    in_container: bool = False


def plan_servers(run_config: RunConfig, deps: ConnectionDeps) -> Sequence[ServerPlan | InactiveServer]:
    """Plan how each configured server is reached, or why it is not."""
    blockers = StartBlockers(run_config)
    return [
        _plan_server(alias, setting, run_config, deps, blockers)
        for alias, setting in configured_servers(run_config.settings).items()
    ]


class StartBlockers:
    """The reasons that keep servers from being started in this run."""

    def __init__(self, run_config: RunConfig) -> None:
        self._settings = run_config.settings
        self._trust = run_config.trust
        self._extensions = {extension.name: extension for extension in run_config.extensions}
        self._problem = ""
        self._disabled: frozenset[str] = frozenset()
        try:
            self._disabled = disabled_servers(run_config.paths)
        except UsageError as error:
            self._problem = str(error)

    def find(self, alias: str) -> tuple[ServerState, str] | None:
        """The state and reason for a blocked server, None if it may be started."""
        if not self._settings.mcp_enabled.value:
            return ServerState.BLOCKED, mcp_disabled_message(self._settings)
        problem = alias_problem(alias) or self._problem
        if problem:
            return ServerState.BLOCKED, problem
        if is_disabled(alias, self._disabled):
            return ServerState.DISABLED, _(
                "It is disabled. Enable it with {command}.", command=f"`tejat mcp enable {alias}`"
            )
        unlisted = unlisted_source(self._settings, alias)
        if unlisted is not None:
            return ServerState.BLOCKED, _("admin.mcp.config in {source} does not list it.", source=unlisted)
        left_out = exclusion_reason(self._settings, alias)
        if left_out is not None:
            return ServerState.BLOCKED, left_out
        if not self._trust.is_trusted:
            reason = self._trust.reason
            return ServerState.BLOCKED, _("{reason} Its servers are not started. See `tejat trust`.", reason=reason)
        extension = extension_of(self._settings.mcp_servers.get(alias), self._extensions)
        blocked = None if extension is None else extension.blocked_servers.get(alias)
        return None if blocked is None else (ServerState.BLOCKED, blocked)


def extension_of(
    setting: Setting[McpServer] | None, extensions: Mapping[str, ActiveExtension]
) -> ActiveExtension | None:
    """The extension that a server belongs to, None for one of the settings."""
    if setting is None or setting.tier is not SourceTier.EXTENSION:
        return None
    return extensions.get(setting.value.extension_name or "")


def exclusion_reason(settings: Settings, alias: str) -> str | None:
    """Which server list excludes this server, None if none does."""
    excluded = next((entry for entry in settings.mcp_excluded if entry.value == alias), None)
    if excluded is not None:
        return _("{source} excludes it.", source=excluded.source)
    allowed = settings.mcp_allowed
    if allowed is None or alias in allowed.value:
        return None
    return _("{source} does not list it.", source=allowed.source)


def _plan_server(
    alias: str, setting: Setting[McpServer], run_config: RunConfig, deps: ConnectionDeps, blockers: StartBlockers
) -> ServerPlan | InactiveServer:
    server = setting.value
    transport, where = describe_server(server)
    barrier = blockers.find(alias)
    if barrier is not None:
        state, reason = barrier
        return InactiveServer(alias, transport, where, state, reason)
    return ServerPlan(
        alias,
        transport,
        where,
        partial(_connect, alias, setting, run_config, deps, pinned=_pinned_command(setting, run_config)),
        timeout=server.timeout,
        start_timeout=server.start_timeout,
        may_sample=server.may_sample,
        check=_extension_check(setting, run_config),
    )


def describe_server(server: McpServer) -> tuple[str, str]:
    """The transport and location of a server, without arguments or anything that may be a secret. Raises nothing."""
    try:
        if not uses_url(server):
            return "stdio", sanitize_text(server.command or "")
        from tejat.mcp.transports.remote import create_remote_transport

        remote = create_remote_transport(server, HttpClient(environment=_NO_ENVIRONMENT))
    except McpFailure:
        return lazy("unknown"), sanitize_text(server.command or "")
    return remote.kind, remote.location


_NO_ENVIRONMENT: Mapping[str, str] = {}


def to_mcp_root(path: str) -> McpRoot:
    """A directory as an MCP root. File names need not be text, but what is sent must be."""
    return McpRoot(f"file://{quote(os.fsencode(path))}", sanitize_text(os.path.basename(path)))


def configured_secrets(settings: Settings) -> dict[str, str]:
    """Variables and headers in the settings of servers that look like secrets."""
    servers = [setting.value for setting in configured_servers(settings).values()]
    given = [item for server in servers for item in (*server.environment.items(), *server.headers.items())]
    return {name: value for name, value in given if is_secret(name.replace("-", "_"), value)}


def _pinned_command(setting: Setting[McpServer], run_config: RunConfig) -> "PinnedCommand | None":
    """The pinned command of a project's server: also when restarted, it runs only what was trusted."""
    server = setting.value
    if setting.tier is not SourceTier.WORKSPACE or server.command is None:
        return None
    from tejat.config.trust.command_files import CommandSpec
    from tejat.config.trust.pinned_commands import PinnedCommand

    command = CommandSpec(server.command, server.arguments, server.directory or "", server.environment)
    return PinnedCommand(command, run_config.roots[0], run_config.trust.items)


def _extension_check(setting: Setting[McpServer], run_config: RunConfig) -> Callable[[], None] | None:
    """The check of a server of an extension: also when restarted, it runs only what was agreed to."""
    extension = extension_of(setting, {each.name: each for each in run_config.extensions})
    pinned = None if extension is None else extension.pinned
    if pinned is None or setting.value.command is None:
        return None

    def check() -> None:
        if reason := pinned.find_change():
            raise McpFailure(_("The server was not started: {reason}.", reason=reason), McpProblem.CONFIGURATION)

    return check


def _connect(
    alias: str,
    setting: Setting[McpServer],
    run_config: RunConfig,
    deps: ConnectionDeps,
    *,
    pinned: "PinnedCommand | None",
) -> Transport:
    """Raises McpFailure."""
    server = setting.value
    if uses_url(server):
        from tejat.mcp.transports.remote import create_remote_transport

        return create_remote_transport(server, deps.http, credentials=deps.get_credentials(alias, server)).transport
    if pinned is not None and (changed := pinned.find_changed_file()) is not None:
        from tejat.config.trust.pinned_commands import describe_changed_file

        message = _("The server was not started: {reason}.", reason=describe_changed_file(changed))
        raise McpFailure(message, McpProblem.CONFIGURATION)
    return create_stdio_transport(
        setting,
        supervisor=deps.supervisor,
        root=run_config.roots[0],
        base_environment=run_config.environment,
        variables=run_config.reference_variables(setting.tier),
        variable_lists=deps.variable_lists,
        wrap=deps.wrap if _is_inside(setting, in_container=deps.in_container) else None,
        in_container=deps.in_container,
    )


def _is_inside(setting: Setting[McpServer], *, in_container: bool) -> bool:
    """Whether a server runs in the sandbox. Only the user can take one out of a container."""
    wanted = setting.value.is_sandboxed
    if in_container:
        return wanted is not False or setting.tier is SourceTier.WORKSPACE
    return wanted is True

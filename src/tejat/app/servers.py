"""Which MCP servers a session has, how each is reached, and which of them may not be started."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from tejat.app.ground import Ground
from tejat.config.mcp_enablement import disabled_servers, is_disabled
from tejat.config.named_files import NamedCommand
from tejat.config.pinned_files import PinnedCommand, changed_in_words
from tejat.config.places import SourceTier
from tejat.config.references import is_secret
from tejat.config.settings import McpServer, Setting, Settings, servers_of
from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import phrase, say
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.link import ServerPlan
from tejat.mcp.names import alias_problem
from tejat.mcp.pool import Barred
from tejat.mcp.remote import is_remote, reach
from tejat.mcp.stdio_settings import stdio_transport
from tejat.mcp.transport import Transport
from tejat.mcp.values import Root, ServerState
from tejat.workspace.http.client import HttpClient

if TYPE_CHECKING:
    from tejat.mcp.http_channel import Credentials
    from tejat.mcp.stdio import Wrap
    from tejat.workspace.processes.keeping import Keeper

SignIn = Callable[[str, McpServer], "Credentials | None"]


class Means(NamedTuple):
    """What servers are reached with: who starts programs, who speaks HTTP, who knows the logins."""

    keeper: "Keeper"
    http: HttpClient
    wrap: "Wrap"
    sign_in: SignIn


def plan_servers(ground: Ground, means: Means) -> Sequence[ServerPlan | Barred]:
    """How each server of the settings is reached, or why it is not."""
    barriers = Barriers(ground)
    return [_plan(alias, setting, ground, means, barriers) for alias, setting in servers_of(ground.settings).items()]


class Barriers:
    """What keeps servers from being started on this ground."""

    def __init__(self, ground: Ground) -> None:
        self._settings = ground.settings
        self._trust = ground.trust
        self._doubt = ""
        self._disabled: frozenset[str] = frozenset()
        try:
            self._disabled = disabled_servers(ground.places)
        except UsageError as error:
            self._doubt = str(error)

    def to(self, alias: str) -> tuple[ServerState, str] | None:
        """What stands before a server, None if nothing does."""
        problem = alias_problem(alias) or self._doubt
        if problem:
            return ServerState.BLOCKED, problem
        if is_disabled(alias, self._disabled):
            return ServerState.DISABLED, say(
                "It is switched off. {command} switches it on.", command=f"`tejat mcp enable {alias}`"
            )
        left_out = left_out_by(self._settings, alias)
        if left_out is not None:
            return ServerState.BLOCKED, left_out
        if not self._trust.is_trusted:
            reason = self._trust.reason
            return ServerState.BLOCKED, say("{reason} No server is started there. See `tejat trust`.", reason=reason)
        return None


def left_out_by(settings: Settings, alias: str) -> str | None:
    """Which of the lists of servers leaves this one out, in words, None if it is in use."""
    excluded = next((entry for entry in settings.mcp_excluded if entry.value == alias), None)
    if excluded is not None:
        return say("{source} excludes it.", source=excluded.source)
    allowed = settings.mcp_allowed
    if allowed is None or alias in allowed.value:
        return None
    return say("{source} does not name it.", source=allowed.source)


def _plan(
    alias: str, setting: Setting[McpServer], ground: Ground, means: Means, barriers: Barriers
) -> ServerPlan | Barred:
    server = setting.value
    transport, where = described(server)
    barrier = barriers.to(alias)
    if barrier is not None:
        state, reason = barrier
        return Barred(alias, transport, where, state, reason)
    return ServerPlan(
        alias,
        transport,
        where,
        partial(_connect, alias, setting, ground, means, pinned=_pinned(setting, ground)),
        timeout=server.timeout,
        start_timeout=server.start_timeout,
        may_sample=server.may_sample,
    )


def described(server: McpServer) -> tuple[str, str]:
    """The transport of a server and where it is, without its arguments and whatever may be a secret. Raises nothing."""
    try:
        if not is_remote(server):
            return "stdio", visible(server.command or "")
        remote = reach(server, HttpClient(environment=_NOTHING))
    except McpFailure:
        return phrase("unknown"), visible(server.command or "")
    return remote.kind, remote.where


_NOTHING: Mapping[str, str] = {}


def root_told(path: str) -> Root:
    """A directory as servers are told of it. A name need not be text, and what is sent has to be."""
    return Root(f"file://{quote(os.fsencode(path))}", visible(os.path.basename(path)))


def given_secrets(settings: Settings) -> dict[str, str]:
    """What the settings themselves hand to servers, as far as it looks like a secret."""
    servers = [setting.value for setting in servers_of(settings).values()]
    given = [item for server in servers for item in (*server.environment.items(), *server.headers.items())]
    return {name: value for name, value in given if is_secret(name.replace("-", "_"), value)}


def _pinned(setting: Setting[McpServer], ground: Ground) -> PinnedCommand | None:
    """The command of a project's server: started again, too, it runs only what was trusted."""
    server = setting.value
    if setting.tier is not SourceTier.WORKSPACE or server.command is None:
        return None
    command = NamedCommand(server.command, server.arguments, server.directory or "", server.environment)
    return PinnedCommand(command, ground.roots[0], ground.trust.items)


def _connect(
    alias: str, setting: Setting[McpServer], ground: Ground, means: Means, *, pinned: PinnedCommand | None
) -> Transport:
    """Raises McpFailure."""
    server = setting.value
    if is_remote(server):
        return reach(server, means.http, credentials=means.sign_in(alias, server)).transport
    if pinned is not None and (changed := pinned.changed()) is not None:
        told = say("The server was not started: {reason}.", reason=changed_in_words(changed))
        raise McpFailure(told, McpProblem.CONFIGURATION)
    return stdio_transport(
        setting,
        keeper=means.keeper,
        root=ground.roots[0],
        base=ground.environment,
        wrap=means.wrap if server.is_sandboxed else None,
    )

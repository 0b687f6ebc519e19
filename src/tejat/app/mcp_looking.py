"""Looking at the MCP servers of the settings: which there are, whether they can be reached, what they offer."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial

from tejat import __version__
from tejat.app.ground import Ground, survey
from tejat.app.house import House
from tejat.app.server_tools import exchange_tools, pins_path, token_store
from tejat.app.servers import Means, given_secrets, plan_servers, root_told
from tejat.app.tools import describe_tools
from tejat.config.settings import McpServer, Setting, servers_of
from tejat.core.errors import UsageError
from tejat.core.tokens import estimate_declaration
from tejat.core.value import replace, value
from tejat.core.words import say
from tejat.engine.secret_mask import SecretMask
from tejat.mcp.failures import McpFailure
from tejat.mcp.link import ServerPlan
from tejat.mcp.oauth import authorisation
from tejat.mcp.pins import Pins
from tejat.mcp.pool import Barred, McpPool
from tejat.mcp.remote import is_remote, reach
from tejat.mcp.transport import Transport
from tejat.mcp.values import Host, ServerState, ServerStatus
from tejat.workspace.crew import dismiss
from tejat.workspace.http.client import HttpClient
from tejat.workspace.workspace import Workspace


@value
class OfferedTool:
    """A tool as a session would have it, and about how many tokens it takes to tell a model of it."""

    name: str
    tokens: int
    has_changed: bool
    """Since a call of it was last allowed."""


@value
class Offer:
    """What a session would have of a server. `problems` tells what it would not have, and why."""

    tools: tuple[OfferedTool, ...]
    problems: tuple[str, ...]


@asynccontextmanager
async def open_servers(
    directories: Sequence[str],
    *,
    only: str | None = None,
    on_change: Callable[[ServerStatus], None] = lambda _: None,
) -> "AsyncGenerator[ServersAtHand]":
    """The servers of a session in these directories, or one of them, not started yet. In the end all are gone.

    Raises UsageError, NoSuchServer where none is called `only`.
    """
    ground = survey(directories)
    if only is not None:
        find_server(ground, only)
    async with _means(ground) as means:
        servers = ServersAtHand(ground, means, only=only, on_change=on_change)
        try:
            yield servers
        finally:
            await servers.close()


class NoSuchServer(UsageError):
    """There are only those in `known`; `notes` may tell why."""

    def __init__(self, name: str, known: tuple[str, ...], notes: tuple[str, ...]) -> None:
        super().__init__(say('There is no MCP server "{name}" in the settings.', name=name))
        self.name = name
        self.known = known
        self.notes = notes


@asynccontextmanager
async def _means(ground: Ground) -> AsyncGenerator[Means]:
    http = HttpClient(environment=ground.environment)
    store = token_store(ground.places)
    with ExitStack() as stack:
        workspace = stack.enter_context(Workspace(ground.roots))
        house = stack.enter_context(House(workspace, ground, None))
        try:
            yield Means(house.keeper, http, house.fence_in, partial(authorisation, client=http, store=store))
        finally:
            await http.close()
            await dismiss()


class ServersAtHand:
    """Servers that are asked how they are, once. `notes` are for the person.

    What servers said is as they said it, but for secrets that they were given: whoever shows it makes it visible.
    """

    def __init__(
        self, ground: Ground, means: Means, *, only: str | None, on_change: Callable[[ServerStatus], None]
    ) -> None:
        self.notes = ground.notes
        self._settings = servers_of(ground.settings)
        self._mask = SecretMask({**ground.named_secrets, **given_secrets(ground.settings)})
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._transports: dict[str, Transport] = {}
        self._pins = Pins(pins_path(ground))
        self._registry = describe_tools()
        plans = [self._watched(plan) for plan in plan_servers(ground, means) if only in (None, plan.alias)]
        host = Host(roots=lambda: [root_told(os.path.realpath(path)) for path in ground.roots])
        self._pool = McpPool(plans, host, version=__version__, on_change=self._note)

    def source(self, alias: str) -> str:
        """Where the settings name the server."""
        return self._settings[alias].source

    def warning(self, alias: str) -> str:
        """What speaks against the way to a server, empty if nothing does."""
        server = self._settings[alias].value
        try:
            return reach(server, HttpClient(environment={})).warning if is_remote(server) else ""
        except McpFailure:
            return ""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """How they are now, in the order of the settings."""
        return tuple(map(self._masked, self._pool.statuses()))

    async def settled(self) -> AsyncIterator[ServerStatus]:
        """Connect all of them; what became of each, in the order of the settings, as soon as it and those before have.

        It takes no longer than the limits of the servers.
        """
        self._pool.start()
        for number in range(len(self._pool.statuses())):
            while (status := self.statuses()[number]).state is ServerState.CONNECTING:
                self._changed.clear()
                await self._changed.wait()
            yield status

    def offer(self, status: ServerStatus) -> Offer:
        """What a session would have of a server that is connected."""
        server, settings = self._pool.servers[status.alias], self._settings[status.alias].value
        found = exchange_tools(self._registry, server, status.catalogue, settings, self._pins)
        tools = (OfferedTool(tool.name, estimate_declaration(tool.schema), tool.has_changed) for tool in found.tools)
        return Offer(tuple(tools), found.problems)

    def last_words(self, alias: str) -> tuple[str, ...]:
        """What the server wrote to its error output last."""
        said = self._transports[alias].last_words if alias in self._transports else ()
        return tuple(map(self._mask.text, said))

    async def close(self) -> None:
        await self._pool.close()

    def _watched(self, plan: ServerPlan | Barred) -> ServerPlan | Barred:
        if isinstance(plan, Barred):
            return plan

        def connect() -> Transport:
            self._transports[plan.alias] = transport = plan.connect()
            return transport

        return replace(plan, connect=connect)

    def _note(self, status: ServerStatus) -> None:
        self._changed.set()
        self._on_change(self._masked(status))

    def _masked(self, status: ServerStatus) -> ServerStatus:
        said = tuple(map(self._mask.text, status.last_words))
        return replace(status, reason=self._mask.text(status.reason), last_words=said)


def find_server(ground: Ground, name: str) -> Setting[McpServer]:
    """The server of that name. Raises NoSuchServer."""
    servers = servers_of(ground.settings)
    if name not in servers:
        raise NoSuchServer(name, tuple(servers), ground.notes)
    return servers[name]

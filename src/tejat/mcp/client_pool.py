"""The MCP clients of a session, started and closed together."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.mcp.client import CLIENT_LIMITS, ClientLimits, McpClient, ServerPlan
from tejat.mcp.errors import McpFailure
from tejat.mcp.types import ClientCallbacks, ServerState, ServerStatus

_MAX_CONCURRENT_STARTS = 8
_CLOSE_SECONDS = 3.0
_NOTIFY_SECONDS = 2.0


class DiscoveryState(StrEnum):
    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    """No first connection attempt is under way any more, whatever its result."""


class InactiveServer(Frozen):
    """A server that is not started: BLOCKED by settings or missing trust, or DISABLED by the user."""

    alias: str
    transport: str
    location: str
    state: ServerState
    reason: str


class McpClientPool:
    """Clients by alias, in the given order. `on_change` is called in the loop with every change of a status."""

    def __init__(
        self,
        plans: Sequence[ServerPlan | InactiveServer],
        callbacks: ClientCallbacks,
        *,
        version: str,
        on_change: Callable[[ServerStatus], None],
        limits: ClientLimits = CLIENT_LIMITS,
    ) -> None:
        gate = asyncio.Semaphore(_MAX_CONCURRENT_STARTS)
        self._on_change = on_change
        self._inactive = {plan.alias: _inactive_status(plan) for plan in plans if isinstance(plan, InactiveServer)}
        self._clients = {
            plan.alias: McpClient(
                plan, callbacks, version=version, on_change=self._handle_change, start_semaphore=gate, limits=limits
            )
            for plan in plans
            if isinstance(plan, ServerPlan)
        }
        self._order = tuple(plan.alias for plan in plans)
        self._unsettled = set(self._clients)
        self._completed = asyncio.Event()
        self._is_started = False

    @property
    def clients(self) -> Mapping[str, McpClient]:
        """The active clients."""
        return MappingProxyType(self._clients)

    @property
    def discovery(self) -> DiscoveryState:
        if self._completed.is_set():
            return DiscoveryState.COMPLETED
        return DiscoveryState.IN_PROGRESS if self._is_started else DiscoveryState.NOT_STARTED

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(
            self._clients[alias].status if alias in self._clients else self._inactive[alias] for alias in self._order
        )

    def start(self) -> None:
        """Connect all servers in the background."""
        self._is_started = True
        for client in self._clients.values():
            client.start()
        self._check_completed()

    async def wait_until_current(self) -> None:
        """Wait until the changes that servers have announced are in their statuses."""
        for client in self._clients.values():
            await client.wait_until_current()

    async def wait_until_settled(self, seconds: float | None = None) -> tuple[str, ...]:
        """Wait until every server is connected or has failed, at most this long. Return those still connecting."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._completed.wait()
        return tuple(alias for alias in self._order if alias in self._unsettled)

    async def reconnect(self, alias: str) -> ServerStatus:
        """Reconnect a server, for example after a login, and return its status. An inactive server stays as it is.

        Raises KeyError for an unknown alias.
        """
        client = self._clients.get(alias)
        return self._inactive[alias] if client is None else await client.reconnect()

    async def notify_roots_changed(self) -> None:
        """Notify all connected servers. Never raises."""
        await asyncio.gather(*(_notify_roots_changed(client) for client in self._clients.values()))

    async def close(self) -> None:
        """Close all clients within three seconds. May be called at any time and more than once."""
        self._is_started = True
        closing = [asyncio.get_running_loop().create_task(client.close()) for client in self._clients.values()]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSE_SECONDS)
        self._unsettled.clear()
        self._check_completed()

    def _handle_change(self, status: ServerStatus) -> None:
        if status.state is not ServerState.CONNECTING:
            self._unsettled.discard(status.alias)
            self._check_completed()
        self._on_change(status)

    def _check_completed(self) -> None:
        if self._is_started and not self._unsettled:
            self._completed.set()


def _inactive_status(plan: InactiveServer) -> ServerStatus:
    return ServerStatus(plan.alias, plan.state, plan.transport, plan.location, reason=plan.reason)


async def _notify_roots_changed(client: McpClient) -> None:
    with suppress(McpFailure, TimeoutError):
        async with asyncio.timeout(_NOTIFY_SECONDS):
            await client.notify_roots_changed()

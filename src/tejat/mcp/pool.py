"""All the servers of a session: started side by side in the background, asked how they are, and closed together."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from types import MappingProxyType

from tejat.core.value import value
from tejat.mcp.failures import McpFailure
from tejat.mcp.link import LINK_LIMITS, LinkLimits, ServerLink, ServerPlan
from tejat.mcp.values import Host, ServerState, ServerStatus

_MOST_STARTING = 8
_CLOSING_SECONDS = 3.0
_TELLING_SECONDS = 2.0


class DiscoveryState(StrEnum):
    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    """No server is being connected for the first time any more, whatever came of it."""


@value
class Barred:
    """A server that is never started: BLOCKED by the settings or for want of trust, DISABLED by the person; and why."""

    alias: str
    transport: str
    where: str
    state: ServerState
    reason: str


class McpPool:
    """The servers by their alias, in the order given. `on_change` is called in the loop with every change of one."""

    def __init__(
        self,
        plans: Sequence[ServerPlan | Barred],
        host: Host,
        *,
        version: str,
        on_change: Callable[[ServerStatus], None],
        limits: LinkLimits = LINK_LIMITS,
    ) -> None:
        gate = asyncio.Semaphore(_MOST_STARTING)
        self._on_change = on_change
        self._barred = {plan.alias: _status_of(plan) for plan in plans if isinstance(plan, Barred)}
        self._links = {
            plan.alias: ServerLink(plan, host, version=version, on_change=self._changed, gate=gate, limits=limits)
            for plan in plans
            if isinstance(plan, ServerPlan)
        }
        self._order = tuple(plan.alias for plan in plans)
        self._unsettled = set(self._links)
        self._completed = asyncio.Event()
        self._is_started = False

    @property
    def servers(self) -> Mapping[str, ServerLink]:
        """Those that may be used."""
        return MappingProxyType(self._links)

    @property
    def discovery(self) -> DiscoveryState:
        if self._completed.is_set():
            return DiscoveryState.COMPLETED
        return DiscoveryState.IN_PROGRESS if self._is_started else DiscoveryState.NOT_STARTED

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(
            self._links[alias].status if alias in self._links else self._barred[alias] for alias in self._order
        )

    def start(self) -> None:
        """Connect all servers in the background. Returns at once."""
        self._is_started = True
        for link in self._links.values():
            link.start()
        self._look_whether_completed()

    async def settled(self, within: float | None = None) -> tuple[str, ...]:
        """Wait until every server is connected or has failed, this many seconds at most. Returns those that are not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._completed.wait()
        return tuple(alias for alias in self._order if alias in self._unsettled)

    async def retry(self, alias: str) -> ServerStatus:
        """Connect a server anew, as after a login, and say what came of it. One that is barred stays as it is.

        Raises KeyError for an alias that no server has.
        """
        link = self._links.get(alias)
        return self._barred[alias] if link is None else await link.retry()

    async def tell_roots_changed(self) -> None:
        """Tell the servers that the roots are others now, as far as they can be told. Raises nothing."""
        await asyncio.gather(*(_told_roots_changed(link) for link in self._links.values()))

    async def close(self) -> None:
        """Let go of all servers, in three seconds at most. It does not matter who calls this, how often, and when."""
        self._is_started = True
        closing = [asyncio.get_running_loop().create_task(link.close()) for link in self._links.values()]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSING_SECONDS)
        self._unsettled.clear()
        self._look_whether_completed()

    def _changed(self, status: ServerStatus) -> None:
        if status.state is not ServerState.CONNECTING:
            self._unsettled.discard(status.alias)
            self._look_whether_completed()
        self._on_change(status)

    def _look_whether_completed(self) -> None:
        if self._is_started and not self._unsettled:
            self._completed.set()


def _status_of(plan: Barred) -> ServerStatus:
    return ServerStatus(plan.alias, plan.state, plan.transport, plan.where, reason=plan.reason)


async def _told_roots_changed(link: ServerLink) -> None:
    with suppress(McpFailure, TimeoutError):
        async with asyncio.timeout(_TELLING_SECONDS):
            await link.tell_roots_changed()

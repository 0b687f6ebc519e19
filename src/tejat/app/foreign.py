"""Tools that join a session while it runs: those that a command tells of, and those of MCP servers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.asking import Asking
from tejat.app.ground import Ground
from tejat.core.confirm import Answer, Question
from tejat.core.words import say
from tejat.engine.secret_mask import SecretMask
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.house import House
    from tejat.app.server_tools import ServerTools
    from tejat.core.model import Ask

_MOST_NEWS = 100
"""A server can say something new as often as it likes."""

AskPerson = Callable[[Question], Awaitable[Answer]]


class Surroundings(NamedTuple):
    """What foreign tools find in a session. `ask_person` answers for the person, None where nobody can."""

    ground: Ground
    house: "House"
    registry: ToolRegistry
    ask_person: AskPerson | None = None


class ForeignTools:
    """Puts tools into the registry as they come to be known. It belongs to the event loop that it was begun in."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.servers: ServerTools | None = None
        """Known as soon as the servers are being started, if there are any."""
        self.asking = Asking()
        self.was_awaited = False
        self._surroundings = surroundings
        self._ask_model: Ask | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._news: dict[str, bool] = {}
        self._untold = 0

    def attach(self, ask: "Ask") -> None:
        """Let servers that may do so ask this model. To be called before the beginning."""
        self._ask_model = ask

    def begin(self) -> None:
        """Look for tools in the background. Returns at once, and does nothing the second time."""
        if self._beginning is None:
            self._beginning = asyncio.get_running_loop().create_task(self._begin())

    async def ready(self, within: float | None = None) -> tuple[str, ...]:
        """Wait until all that there is has been found, so many seconds at most; names what is still being waited for.

        What was never begun is not waited for.
        """
        if self._beginning is None:
            return ()
        loop = asyncio.get_running_loop()
        until = None if within is None else loop.time() + within
        _, late = await asyncio.wait((self._beginning,), timeout=within)
        if late:
            return (say("the discovery of tools"),)
        self._beginning.result()
        if self.servers is None:
            return ()
        return await self.servers.settled(None if until is None else max(0.0, until - loop.time()))

    async def close(self) -> None:
        """End all that was started. Raises nothing but the cancellation of its task."""
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.wait((self._beginning,))
        if self.servers is not None:
            await self.servers.close()

    def news(self) -> list[str]:
        """What the person should know, each once, and no more at a time than somebody could read."""
        fresh = [message for message, is_told in self._news.items() if not is_told]
        self._news |= dict.fromkeys(fresh, True)
        if self._untold:
            fresh.append(
                say("There was more to tell about tools of others: {left:,} messages are left out.", left=self._untold)
            )
        self._untold = 0
        return fresh

    async def _begin(self) -> None:
        # Whoever waits for a first prompt should not wait for all this to be loaded, nor for what is not in use.
        settings = self._surroundings.ground.settings
        if settings.mcp_servers or settings.mcp_server_command:
            from tejat.app.server_tools import ServerTools

            self.servers = ServerTools(self._surroundings, self._tell, asking=self.asking, ask_model=self._ask_model)
            self.servers.start()
        if settings.discovery_command is not None:
            from tejat.app.command_tools import discover_by_command

            await discover_by_command(self._surroundings, settings.discovery_command, self._tell)

    def _tell(self, message: str) -> None:
        """What programs print may hold a secret that they were given."""
        message = SecretMask(self._surroundings.ground.named_secrets).text(message)
        if message in self._news:
            return
        if len(self._news) >= _MOST_NEWS:
            oldest = next(iter(self._news))
            if not self._news[oldest]:
                self._untold += 1
                return
            del self._news[oldest]
        self._news[message] = False

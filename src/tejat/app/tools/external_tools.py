"""Tools that join a session while it runs: those that a command tells of, and those of MCP servers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.mcp.request_gate import RequestGate
from tejat.app.run_config import RunConfig
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.i18n import _
from tejat.engine.calls.secret_mask import SecretMask
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.mcp.manager import McpManager
    from tejat.app.tools.tool_services import ToolServices
    from tejat.core.model import AskModel

_MAX_NOTICES = 100
"""A server can say something new as often as it likes."""

AskUser = Callable[[ApprovalRequest], Awaitable[ApprovalReply]]


class ExternalToolContext(NamedTuple):
    """What foreign tools find in a session. `ask_person` answers for the person, None where nobody can."""

    run_config: RunConfig
    services: "ToolServices"
    registry: ToolRegistry
    ask_user: AskUser | None = None


class ExternalTools:
    """Puts tools into the registry as they come to be known. It belongs to the event loop that it was begun in."""

    def __init__(self, surroundings: ExternalToolContext) -> None:
        self.mcp_manager: McpManager | None = None
        """Known as soon as the servers are being started, if there are any."""
        self.request_gate = RequestGate()
        self.was_awaited = False
        self._context = surroundings
        self._ask_model: AskModel | None = None
        self._startup_task: asyncio.Task[None] | None = None
        self._notices: dict[str, bool] = {}
        self._dropped_notices = 0

    def attach_model(self, ask: "AskModel") -> None:
        """Let servers that may do so ask this model. To be called before the beginning."""
        self._ask_model = ask

    def start(self) -> None:
        """Look for tools in the background. Returns at once, and does nothing the second time."""
        if self._startup_task is None:
            self._startup_task = asyncio.get_running_loop().create_task(self._start())

    async def wait_ready(self, within: float | None = None) -> tuple[str, ...]:
        """Wait until all that there is has been found, so many seconds at most; names what is still being waited for.

        What was never begun is not waited for.
        """
        if self._startup_task is None:
            return ()
        loop = asyncio.get_running_loop()
        until = None if within is None else loop.time() + within
        _unused, late = await asyncio.wait((self._startup_task,), timeout=within)
        if late:
            return (_("the discovery of tools"),)
        self._startup_task.result()
        if self.mcp_manager is None:
            return ()
        return await self.mcp_manager.wait_settled(None if until is None else max(0.0, until - loop.time()))

    async def close(self) -> None:
        """End all that was started. Raises nothing but the cancellation of its task."""
        if self._startup_task is not None:
            self._startup_task.cancel()
            await asyncio.wait((self._startup_task,))
        if self.mcp_manager is not None:
            await self.mcp_manager.close()

    def take_notices(self) -> list[str]:
        """What the person should know, each once, and no more at a time than somebody could read."""
        fresh = [message for message, is_told in self._notices.items() if not is_told]
        self._notices |= dict.fromkeys(fresh, True)
        if self._dropped_notices:
            fresh.append(
                _(
                    "There was more to tell about tools of others: {left:,} messages are left out.",
                    left=self._dropped_notices,
                )
            )
        self._dropped_notices = 0
        return fresh

    async def _start(self) -> None:
        # Whoever waits for a first prompt should not wait for all this to be loaded, nor for what is not in use.
        settings = self._context.run_config.settings
        if settings.mcp_servers or settings.mcp_server_command:
            from tejat.app.mcp.manager import McpManager

            self.mcp_manager = McpManager(
                self._context, self._notify, request_gate=self.request_gate, ask_model=self._ask_model
            )
            self.mcp_manager.start()
        if settings.discovery_command is not None:
            from tejat.app.tools.discovered_tools import register_discovered_tools

            await register_discovered_tools(self._context, settings.discovery_command, self._notify)

    def _notify(self, message: str) -> None:
        """What programs print may hold a secret that they were given."""
        message = SecretMask(self._context.run_config.named_secrets).mask_text(message)
        if message in self._notices:
            return
        if len(self._notices) >= _MAX_NOTICES:
            oldest = next(iter(self._notices))
            if not self._notices[oldest]:
                self._dropped_notices += 1
                return
            del self._notices[oldest]
        self._notices[message] = False

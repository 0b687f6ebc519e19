"""Tools that join a session while it runs: from the discovery command and from MCP servers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.mcp.request_gate import RequestGate
from tejat.app.run_config import RunConfig
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.i18n import _
from tejat.core.provenance import ToolSource
from tejat.engine.calls.secret_mask import SecretMask
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.mcp.manager import McpManager
    from tejat.app.tools.tool_services import ToolServices
    from tejat.core.model import AskModel

_MAX_NOTICES = 100
"""The limit of different notices, since a server can produce any number."""

AskUser = Callable[[ApprovalRequest], Awaitable[ApprovalReply]]


class ExternalToolContext(NamedTuple):
    """What external tools get of a session. `ask_user` is None if nobody can answer."""

    run_config: RunConfig
    services: "ToolServices"
    registry: ToolRegistry
    ask_user: AskUser | None = None


class ExternalTools:
    """Registers external tools as they are found. It belongs to the event loop that started it."""

    def __init__(self, context: ExternalToolContext) -> None:
        self.mcp_manager: McpManager | None = None
        """Set once the servers are being started, if there are any."""
        self.request_gate = RequestGate()
        self.was_awaited = False
        self._context = context
        self._ask_model: AskModel | None = None
        self._startup_task: asyncio.Task[None] | None = None
        self._notices: dict[str, bool] = {}
        self._dropped_notices = 0

    def attach_model(self, ask: "AskModel") -> None:
        """Let permitted servers ask this model. Must be called before `start`."""
        self._ask_model = ask

    def start(self) -> None:
        """Find tools in the background. A second call does nothing."""
        if self._startup_task is None:
            self._startup_task = asyncio.get_running_loop().create_task(self._start())

    @property
    def is_starting(self) -> bool:
        """Whether MCP servers, if there are any, are still to be started."""
        is_over = self._startup_task is not None and self._startup_task.done()
        return self.mcp_manager is None and not is_over

    async def wait_ready(self, within: float | None = None) -> tuple[str, ...]:
        """Wait until everything is found, at most `within` seconds; return what is still being waited for.

        Returns at once if it was not started.
        """
        if self._startup_task is None:
            return ()
        loop = asyncio.get_running_loop()
        until = None if within is None else loop.time() + within
        _unused, late = await asyncio.wait((self._startup_task,), timeout=within)
        if late:
            return (_("tool discovery"),)
        self._startup_task.result()
        if self.mcp_manager is None:
            return ()
        return await self.mcp_manager.wait_settled(None if until is None else max(0.0, until - loop.time()))

    async def close(self) -> None:
        """Stop everything that was started. Raises nothing but the cancellation of its task."""
        if self._startup_task is not None:
            self._startup_task.cancel()
            await asyncio.wait((self._startup_task,))
        if self.mcp_manager is not None:
            await self.mcp_manager.close()

    async def restart(self, run_config: RunConfig) -> None:
        """Stop everything, forget the tools of servers, and start again with another configuration."""
        await self.close()
        registry = self._context.registry
        for alias in {entry.origin for entry in registry.entries() if entry.source is ToolSource.MCP}:
            registry.replace_server_tools(alias, ())
        self._context = self._context._replace(run_config=run_config)
        self.mcp_manager, self._startup_task = None, None
        self.start()

    def take_notices(self) -> list[str]:
        """New notices for the user, each once and limited in number."""
        fresh = [message for message, is_told in self._notices.items() if not is_told]
        self._notices |= dict.fromkeys(fresh, True)
        if self._dropped_notices:
            fresh.append(
                _(
                    "{left:,} more messages about external tools are not shown.",
                    left=self._dropped_notices,
                )
            )
        self._dropped_notices = 0
        return fresh

    async def _start(self) -> None:
        # The first prompt should not wait for these imports, nor should runs that do not need them.
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
        """Record a notice with secrets masked, because programs may print them."""
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

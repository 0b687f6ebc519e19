"""A single connection to an MCP server."""

import asyncio
from collections.abc import Callable, Mapping

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.discovery import limit_problems, list_features
from tejat.mcp.features.item_parser import quote_name
from tejat.mcp.input_required import request_with_input, request_with_url_elicitation
from tejat.mcp.jsonrpc_session import JsonRpcSession, RequestTimeouts
from tejat.mcp.negotiation import negotiate
from tejat.mcp.protocol import STATELESS_REVISIONS
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.parameter_headers import header_problem
from tejat.mcp.types import McpProgress, ServerFeatures, ServerInfo

_LIST_CHANGED = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}
_ELICITATION_COMPLETE = "notifications/elicitation/complete"
_FIRST_DELAY = 1.0
_MAX_DELAY = 60.0


class ServerConnection:
    """Used in this order: `session.open`, `negotiate`, anything else, `session.close`.

    `on_change` is called when the server announces changed features, `on_end` when the connection ends by itself.
    """

    def __init__(
        self,
        transport: Transport,
        request_handler: ServerRequestHandler,
        *,
        on_change: Callable[[], None],
        on_end: Callable[[McpFailure], None],
    ) -> None:
        self._request_handler = request_handler
        self._on_change = on_change
        self.session = JsonRpcSession(
            transport, request_handler, on_notification=self._handle_notification, on_end=on_end
        )
        self._info = ServerInfo(name="", version="", revision="", capabilities={})
        self._elicitation_completed = asyncio.Event()

    async def negotiate(self, *, version: str) -> ServerInfo:
        """Raises McpFailure."""
        self._info = await negotiate(self.session, self._request_handler, version=version)
        return self._info

    async def list_features(self, *, seconds: float, is_strict: bool = False) -> ServerFeatures:
        """List everything that the server offers, within this time. Raises McpFailure."""
        deadline = asyncio.get_running_loop().time() + seconds

        async def ask(method: str, params: JsonObject | None) -> JsonObject:
            left = max(0.0, deadline - asyncio.get_running_loop().time())
            return await self.session.request(method, params, timeouts=RequestTimeouts(idle=left, total=left))

        features = await list_features(ask, self._info.capabilities, is_strict=is_strict)
        return _drop_invalid_header_tools(features) if self._is_stateless else features

    async def request(
        self,
        method: str,
        params: JsonObject,
        *,
        timeouts: RequestTimeouts,
        on_progress: Callable[[McpProgress], None] | None,
    ) -> JsonObject:
        """Send a request and return its result. Raises McpFailure; RequestNotSent: it has not reached the server."""

        async def send(params: JsonObject) -> JsonObject:
            return await self.session.request(method, params, timeouts=timeouts, on_progress=on_progress)

        if self._is_stateless:
            return await request_with_input(send, params, self._request_handler)
        return await request_with_url_elicitation(
            send, params, self._request_handler, next_completion=lambda: self._elicitation_completed
        )

    async def listen(self) -> None:
        """Subscribe to changes of a stateless server, as long as it allows that; other servers notify anyway."""
        subscriptions = {f"{name}ListChanged": True for name in _LIST_CHANGED.values() if self._has_list_changed(name)}
        if not self._is_stateless or not subscriptions:
            return
        pause = _FIRST_DELAY
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self.session.request("subscriptions/listen", {"notifications": subscriptions})
            except McpFailure as failure:
                if failure.problem is McpProblem.REFUSED or self.session.is_closed:
                    return
            has_lasted = asyncio.get_running_loop().time() - began > _MAX_DELAY
            pause = _FIRST_DELAY if has_lasted else min(2 * pause, _MAX_DELAY)
            await asyncio.sleep(pause)
            # Changes during the pause were not announced.
            self._on_change()

    async def notify_roots_changed(self) -> None:
        """Notify the server. A stateless one asks for the roots when it needs them. Raises McpFailure."""
        if not self._is_stateless:
            await self.session.notify("notifications/roots/list_changed")

    @property
    def _is_stateless(self) -> bool:
        return self._info.revision in STATELESS_REVISIONS

    def _has_list_changed(self, name: str) -> bool:
        offered = self._info.capabilities.get(name)
        return isinstance(offered, Mapping) and offered.get("listChanged") is True

    def _handle_notification(self, method: str) -> None:
        if method in _LIST_CHANGED:
            self._on_change()
        elif method == _ELICITATION_COMPLETE:
            self._elicitation_completed.set()
            self._elicitation_completed = asyncio.Event()


def _drop_invalid_header_tools(features: ServerFeatures) -> ServerFeatures:
    """Drop tools that demand invalid headers: the protocol forbids calling them."""
    looked_at = [(tool, header_problem(tool.input_schema)) for tool in features.tools]
    left_out = [
        lazy("Skipped tool {name}: it needs {why}.", name=quote_name(tool.name), why=problem)
        for tool, problem in looked_at
        if problem is not None
    ]
    return replace(
        features,
        tools=tuple(tool for tool, problem in looked_at if problem is None),
        problems=limit_problems([*features.problems, *left_out]),
    )

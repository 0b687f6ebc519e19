"""Interface of the transports."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from tejat.mcp.errors import McpFailure
from tejat.mcp.protocol import JsonRpcMessage, RequestId

MessageHandler: TypeAlias = Callable[[JsonRpcMessage], None]
FailureHandler: TypeAlias = Callable[[McpFailure, RequestId | None], None]
"""Receives the failure of one request or, with None, of the connection, which is then closed."""


class Transport(Protocol):
    """One connection. Messages are passed to callbacks in the event loop, never queued.

    Methods may be called from any task of the loop that opened it. `close` may be called at any time, twice, and from a
    task that is being cancelled; no callback is called after it, and nothing is left behind.
    """

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        """Start the server or prepare the connection. Raises McpFailure with START, CONFIGURATION or UNAUTHORIZED."""
        ...

    async def send(self, message: JsonRpcMessage) -> None:
        """Send a message. Raises McpFailure. Failures of the response are reported through `on_failure`."""
        ...

    def set_revision(self, revision: str) -> None:
        """Set the negotiated revision of the protocol."""
        ...

    def forget_request(self, request_id: RequestId) -> None:
        """Drop a request whose response is not needed any more."""
        ...

    async def close(self) -> None:
        """Close the connection. Never raises, and takes two seconds at most."""
        ...

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines that the server printed on its standard error, sanitized."""
        ...

"""How messages get to a server and back, whatever lies between."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from tejat.mcp.errors import McpFailure
from tejat.mcp.protocol import JsonRpcMessage, RequestId

MessageHandler: TypeAlias = Callable[[JsonRpcMessage], None]
FailureHandler: TypeAlias = Callable[[McpFailure, RequestId | None], None]
"""Something went wrong: with the answer to one request, or (None) with the connection, which is then over."""


class Transport(Protocol):
    """One connection. What arrives is handed to callbacks in the event loop, message by message, never queued.

    Every method may be called from any task of the loop that opened it. `close` may be called at any time, twice, and
    from a task that is being cancelled; after it no callback is called any more and nothing is left behind.
    """

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        """Start the server, or whatever it takes. Raises McpFailure with START, CONFIGURATION or UNAUTHORISED."""
        ...

    async def send(self, message: JsonRpcMessage) -> None:
        """Raises McpFailure. What is wrong with the answer to a request comes later, through `lose`."""
        ...

    def set_revision(self, revision: str) -> None:
        """From now on this revision of the protocol is spoken."""
        ...

    def forget_request(self, request_id: RequestId) -> None:
        """Nobody waits for the answer to this request any more."""
        ...

    async def close(self) -> None:
        """Raises nothing. Takes two seconds at most."""
        ...

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines that the server's program printed on its standard error, fit to be shown."""
        ...

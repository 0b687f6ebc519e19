"""What can go wrong between us and an MCP server."""

from enum import StrEnum

from tejat.core.errors import TejatError
from tejat.core.messages.types import JsonValue


class McpProblem(StrEnum):
    CONFIGURATION = "configuration"
    """The settings do not say how to reach the server."""
    START = "start"
    """Its program cannot be started, or its address cannot be reached."""
    CLOSED = "closed"
    """It ended, or the connection broke."""
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    """What it sent is not what the protocol allows."""
    REFUSED = "refused"
    """It answered with an error of the protocol; `code` tells which."""
    UNAUTHORIZED = "unauthorised"
    """It wants to know who asks."""


class McpFailure(TejatError):
    """A server did not do what was asked. The message is fit for the person and for the model, and holds no secret.

    `code` and `data` are those of the protocol's error, `challenge` is the WWW-Authenticate header of a server that
    wants to know who asks.
    """

    def __init__(
        self,
        message: str,
        problem: McpProblem,
        *,
        code: int | None = None,
        data: JsonValue = None,
        challenge: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.problem = problem
        self.code = code
        self.data = data
        self.challenge = challenge


class RequestNotSent(McpFailure):
    """A request that the server never got, or would not look at: whatever it asks for has not been done."""

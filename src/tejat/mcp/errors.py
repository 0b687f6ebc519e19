"""Failures of MCP servers."""

from tejat.core.errors import TejatError
from tejat.core.messages.types import JsonValue
from tejat.core.text.str_enum import StrEnum


class McpProblem(StrEnum):
    CONFIGURATION = "configuration"
    """The settings do not say how to reach the server."""
    START = "start"
    """Its program cannot be started, or its URL cannot be reached."""
    CLOSED = "closed"
    """It exited, or the connection broke."""
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    """It violated the protocol."""
    REFUSED = "refused"
    """It responded with a protocol error; see `code`."""
    UNAUTHORIZED = "unauthorised"
    """It requires authentication."""


class McpFailure(TejatError):
    """A request to a server failed. The message is suitable for the user and the model, and contains no secrets.

    `code` and `data` are those of the protocol error, `challenge` is the WWW-Authenticate header.
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

    def replace(self, *, message: str | None = None, problem: McpProblem | None = None) -> "McpFailure":
        """Return a plain McpFailure with the same details."""
        return McpFailure(
            self.message if message is None else message,
            self.problem if problem is None else problem,
            code=self.code,
            data=self.data,
            challenge=self.challenge,
        )


class RequestNotSent(McpFailure):
    """The server has not received the request, or has not looked at it: it has had no effect."""

    def __init__(self, cause: McpFailure) -> None:
        super().__init__(cause.message, cause.problem, code=cause.code, data=cause.data, challenge=cause.challenge)

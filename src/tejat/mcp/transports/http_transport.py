"""The state that both HTTP transports have."""

from tejat.core.i18n import lazy
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.http_channel import HttpChannel


class HttpTransport:
    """A server that is reached through a channel."""

    stderr_tail: tuple[str, ...] = ()

    def __init__(self, channel: HttpChannel) -> None:
        self._channel = channel
        self._revision: str | None = None
        self._is_closed = False

    def set_revision(self, revision: str) -> None:
        self._revision = revision

    def _closed_failure(self) -> McpFailure:
        return McpFailure(lazy("The connection to {where} is closed.", where=self._channel.host), McpProblem.CLOSED)

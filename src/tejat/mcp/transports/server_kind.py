"""How a server is reached: by a URL or by a command."""

from tejat.config.settings.types import McpServer
from tejat.core.i18n import lazy
from tejat.mcp.errors import McpFailure, McpProblem


def uses_url(server: McpServer) -> bool:
    """Return whether a server has a URL rather than a command. Raises McpFailure if it has neither."""
    if server.http_url or server.url:
        return True
    if server.command:
        return False
    if server.tcp:
        message = lazy("The tcp transport is not supported. Set httpUrl, url or command.")
        raise McpFailure(message, McpProblem.CONFIGURATION)
    message = lazy(
        "Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio)."
    )
    raise McpFailure(message, McpProblem.CONFIGURATION)

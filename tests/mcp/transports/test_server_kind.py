"""How a server is reached."""

import pytest

from tejat.config.settings.types import McpServer
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.server_kind import uses_url


@pytest.mark.parametrize(
    "server", [McpServer(url="http://a.example"), McpServer(http_url="http://a.example", command="x")]
)
def test_an_address_counts_more_than_a_command(server: McpServer) -> None:
    assert uses_url(server)


def test_a_command_is_not_remote() -> None:
    assert not uses_url(McpServer(command="x"))


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (
            McpServer(),
            "Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio).",
        ),
        (
            McpServer(tcp="x:1"),
            "The tcp transport is not supported. Set httpUrl, url or command.",
        ),
    ],
)
def test_settings_that_lead_nowhere(server: McpServer, message: str) -> None:
    with pytest.raises(McpFailure) as caught:
        uses_url(server)
    assert (caught.value.message, caught.value.problem) == (message, McpProblem.CONFIGURATION)

"""Which revision is agreed on, with servers that are real programs."""

import json
from pathlib import Path

import pytest

from support.mcp.clients import SECONDS, open_client, read_messages, read_methods
from support.mcp.official_http_servers import official_servers
from support.raw_server import run_checked
from tejat.core.messages.types import JsonObject
from tejat.mcp import negotiation
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.jsonrpc_session import JsonRpcSession, RequestTimeouts
from tejat.mcp.protocol import HANDSHAKE_REVISIONS
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.mcp.types import ClientCallbacks, ServerInfo, ServerState, ServerStatus
from tejat.workspace.http.client import HttpClient

OFFERED = {name: {"listChanged": True} for name in ("tools", "prompts", "resources")}
REFUSED = "The server returned an error: Method not found (code -32601)"


def status_of(*faults: str, host: ClientCallbacks = ClientCallbacks()) -> ServerStatus:  # noqa: B008
    async def main() -> ServerStatus:
        async with open_client(*faults, host=host) as mcp_client:
            return await mcp_client.wait_settled()

    return run_checked(main())


async def answer(*_: object) -> JsonObject:
    return {}


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_every_revision_with_a_handshake(tmp_path: Path, revision: str) -> None:
    status = status_of(f"revision={revision}", f"record={tmp_path / 'log'}")
    assert status.info == ServerInfo("hostile", "1", revision, OFFERED, "Be careful.")
    assert read_methods(tmp_path / "log")[:2] == ["initialize", "notifications/initialized"]
    assert read_messages(tmp_path / "log")[0]["params"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": {"name": "tejat", "title": "Tejat", "version": "1.2"},
    }


def test_what_can_be_answered_is_offered(tmp_path: Path) -> None:
    status_of(f"record={tmp_path / 'log'}", host=ClientCallbacks(elicit=answer))
    assert read_messages(tmp_path / "log")[0]["params"]["capabilities"] == {  # type: ignore[index]
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
    }


def test_a_server_that_keeps_nothing_in_mind(tmp_path: Path) -> None:
    status = status_of("stateless", f"record={tmp_path / 'log'}")
    assert status.info == ServerInfo("hostile", "1", "2026-07-28", OFFERED)
    told = read_messages(tmp_path / "log")
    assert sorted(str(message["method"]) for message in told[2:5]) == ["prompts/list", "resources/list", "tools/list"]
    assert [message["method"] for message in told[:2]] == ["initialize", "server/discover"]
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tejat", "title": "Tejat", "version": "1.2"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }
    assert [message["params"]["_meta"] for message in told[1:5]] == [envelope] * 4  # type: ignore[index]


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (["refuse=initialize"], REFUSED),
        (["refuse=initialize", "odd=server/discover"], REFUSED),
        (
            ["stateless", "broken=server/discover"],
            "The server returned an error: Unsupported protocol version (code -32022)",
        ),
        (
            ["stateless", 'result=server/discover:{"supportedVersions":["2031-01-01"]}'],
            "The server returned an error: Unsupported protocol version (code -32022)",
        ),
        (["revision=1999-01-01"], "The server uses an unknown protocol version: 1999-01-01."),
        (
            ["revision=\x1b[31m"],
            "The server uses an unknown protocol version: <U+001B>[31m.",
        ),
        (["result=initialize:{}"], "The server uses an unknown protocol version: none."),
        (["odd=initialize"], "The server's response is invalid"),
    ],
)
def test_servers_that_nobody_can_speak_with(faults: list[str], reason: str) -> None:
    status = status_of(*faults)
    assert (status.state, status.step) == (ServerState.DISCONNECTED, "handshake")
    assert status.reason.startswith(reason)


def test_what_a_server_says_of_itself_is_bounded_and_made_visible() -> None:
    told = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "\x1b" + "n" * 900, "version": 7},
        "capabilities": {"tools": {}},
        "instructions": "i" * 90_000,
    }
    status = status_of(f"result=initialize:{json.dumps(told)}")
    assert status.info == ServerInfo("<U+001B>" + "n" * 199, "", "2025-06-18", {"tools": {}}, "i" * 20_000)
    odd = {"protocolVersion": "2025-06-18", "serverInfo": [], "capabilities": [], "instructions": {}}
    assert status_of(f"result=initialize:{json.dumps(odd)}").info == ServerInfo("", "", "2025-06-18", {})


def test_the_official_server_keeps_nothing_in_mind_where_it_is_asked_to() -> None:
    """It takes the handshake too, so this leaves that out."""

    async def main(address: str) -> None:
        client = HttpClient(environment={}, use_proxies=False)
        request_handler = ServerRequestHandler("far", ClientCallbacks())
        conversation = JsonRpcSession(
            StreamableHttpTransport(HttpChannel(client, address)),
            request_handler,
            on_notification=lambda _: None,
            on_end=lambda _: None,
        )
        try:
            await conversation.open()
            refusal = McpFailure("no handshake", McpProblem.REFUSED)
            info = await negotiation._discover(
                conversation, request_handler, {"name": "tejat", "version": "1"}, refusal
            )
            assert (info.name, info.revision) == ("official", "2026-07-28")
            params: JsonObject = {"name": "add", "arguments": {"a": 2, "b": 3}}
            patience = RequestTimeouts(idle=SECONDS, total=SECONDS)
            result = await conversation.request("tools/call", params, timeouts=patience)
            assert (result["structuredContent"], result["resultType"]) == ({"result": 5}, "complete")
        finally:
            await conversation.close()
            await client.close()

    with official_servers() as addresses:
        run_checked(main(addresses["stateful"]))

"""Which way to a server its settings mean, and the two ways for one of which nobody said how it speaks."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from socket import gethostname

import pytest

from support.mcp.official_http_servers import official_servers
from support.mcp.transports import (
    TransportRecorder,
    http_response,
    json_response,
    open_recorder,
    result_message,
    scripted_server,
    sse_head,
)
from support.raw_server import Peer, RawServer, raw_server, run_checked
from tejat.config.settings.types import McpServer
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcRequest, JsonRpcResponse
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.remote import FallbackTransport, create_remote_transport, is_on_other_host
from tejat.mcp.transports.sse import SseTransport
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.workspace.http.client import HttpClient

A, B = "https://a.example/x?key=secret", "https://b.example/"
WARNING = "http://a.example is not encrypted: messages and credentials can be read in transit."


@pytest.fixture(scope="module")
def addresses() -> Generator[dict[str, str]]:
    with official_servers() as addresses:
        yield addresses


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (McpServer(http_url=A, url=B, type="sse", command="c"), (StreamableHttpTransport, "http", "https://a.example")),
        (McpServer(url=B, command="c"), (FallbackTransport, "http", "https://b.example")),
        (McpServer(url=B, type="http"), (StreamableHttpTransport, "http", "https://b.example")),
        (McpServer(url=B, type="streamable-http"), (StreamableHttpTransport, "http", "https://b.example")),
        (McpServer(url=B, type="sse"), (SseTransport, "sse", "https://b.example")),
    ],
)
def test_transports(server: McpServer, expected: tuple[type, str, str]) -> None:
    remote = create_remote_transport(server, HttpClient(environment={}))
    assert (type(remote.transport), remote.kind, remote.location, remote.warning) == (*expected, "")


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("http://a.example/mcp?key=secret", WARNING),
        ("http://127.0.0.1:8000/mcp", ""),
        ("http://[::1]:8000/mcp", ""),
        ("http://localhost:8000", ""),
        ("http://127.evil.example/", "http://127.evil.example is not encrypted: "),
    ],
)
def test_what_is_not_encrypted(url: str, warning: str) -> None:
    found = create_remote_transport(McpServer(url=url), HttpClient(environment={})).warning
    assert found.startswith(warning)
    assert bool(found) == bool(warning)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (McpServer(http_url=A), True),
        (McpServer(url=B, type="sse", command="c"), True),
        (McpServer(url="https://8.8.8.8/mcp"), True),
        (McpServer(url="https://[2600::1]/mcp"), True),
        (McpServer(command="c"), False),
        (McpServer(), False),
        (McpServer(url="ftp://a.example"), False),
        *(
            (McpServer(url=f"http://{host}:8000/mcp"), False)
            for host in (
                *("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]"),
                *("10.1.2.3", "192.168.0.7", "[fe80::1]", "box", "box.local", "box.lan.", gethostname()),
            )
        ),
    ],
)
def test_what_is_surely_on_another_machine(server: McpServer, expected: bool) -> None:
    assert is_on_other_host(server) is expected


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (McpServer(url=A, type="stdio\x1b"), 'Invalid type "stdio<U+001B>" for an address: use "http" or "sse"'),
        (McpServer(url="secret"), "The URL must start with http:// or https://."),
        (McpServer(url="https://person:secret@a.example"), "The URL contains a user name or password"),
    ],
)
def test_settings_that_are_wrong(server: McpServer, message: str) -> None:
    with pytest.raises(McpFailure) as caught:
        create_remote_transport(server, HttpClient(environment={}))
    assert caught.value.message.startswith(message)
    assert caught.value.problem is McpProblem.CONFIGURATION


@pytest.mark.parametrize("name", ["stateful", "sse"])
def test_a_server_of_either_kind(addresses: dict[str, str], name: str) -> None:
    async def main() -> None:
        async with open_recorder(lambda client: FallbackTransport(HttpChannel(client, addresses[name]))) as end:
            await end.initialize()
            call = JsonRpcRequest(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            assert (await end.result(call))["structuredContent"] == {"result": 3}
            assert end.losses == []

    run_checked(main())


@asynccontextmanager
async def either(
    *answers: bytes | Callable[[Peer], Awaitable[None]],
) -> AsyncGenerator[tuple[TransportRecorder, RawServer, list[str]]]:
    answer, log = scripted_server(*answers)
    async with (
        raw_server(answer) as server,
        open_recorder(lambda client: FallbackTransport(HttpChannel(client, server.url))) as end,
    ):
        yield end, server, log.lines


def test_when_both_ways_fail_the_first_failure_is_told() -> None:
    async def main() -> None:
        async with either(
            http_response("404 Not Found"), http_response("405 Method Not Allowed"), json_response(result_message(2))
        ) as (
            end,
            server,
            lines,
        ):
            failure = await end.failure(JsonRpcRequest(1, "initialize"))
            assert failure.message == f"127.0.0.1:{server.port} returned 404 Not Found."
            assert lines == ["POST / HTTP/1.1", "GET / HTTP/1.1"]
            assert await end.outcome(JsonRpcRequest(2, "initialize")) == JsonRpcResponse(2, {})

    run_checked(main())


@pytest.mark.parametrize(
    "answer",
    [http_response("401 Unauthorized"), http_response("307 Temporary Redirect", location="https://other.example/")],
)
def test_what_no_other_way_would_help(answer: bytes) -> None:
    async def main() -> None:
        async with either(answer) as (end, _, lines):
            failure = await end.failure(JsonRpcRequest(1, "initialize"))
            assert failure.problem in (McpProblem.UNAUTHORIZED, McpProblem.CONFIGURATION)
            assert lines == ["POST / HTTP/1.1"]

    run_checked(main())


def test_once_a_server_has_answered_no_other_way_is_tried() -> None:
    async def main() -> None:
        async with either(json_response(result_message(1)), http_response("404 Not Found")) as (end, _, lines):
            await end.result(JsonRpcRequest(1, "initialize"))
            failure = await end.failure(JsonRpcRequest(2, "x"))
            assert failure.problem is McpProblem.MALFORMED
            assert lines == ["POST / HTTP/1.1"] * 2

    run_checked(main())


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_closing_while_the_old_way_is_tried(is_forgotten: bool) -> None:
    async def stall(peer: Peer) -> None:
        await peer.send(sse_head())
        asked.set()
        await peer.wait_closed()

    asked = asyncio.Event()

    async def main() -> None:
        async with either(http_response("404 Not Found"), stall) as (end, _, _lines):
            await end.transport.send(JsonRpcRequest(1, "initialize"))
            await asked.wait()
            if is_forgotten:
                end.transport.forget_request(1)
            await end.transport.close()
            assert (end.messages, end.losses) == ([], [])

    run_checked(main())

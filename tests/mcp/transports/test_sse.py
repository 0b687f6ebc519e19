"""The old HTTP with server-sent events, against the official server and against faults."""

import asyncio
from collections.abc import Awaitable, Callable, Generator

import pytest

from support.mcp.official_http_servers import official_servers
from support.mcp.transports import (
    RequestLog,
    TransportRecorder,
    http_response,
    open_recorder,
    result_message,
    scripted_server,
    sse_event,
    sse_head,
)
from support.raw_server import Peer, raw_server, run_checked
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcNotification, JsonRpcRequest, JsonRpcResponse
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.sse import SseTransport


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with official_servers() as addresses:
        yield addresses["sse"]


def test_the_official_server(address: str) -> None:
    async def main() -> None:
        async with open_recorder(lambda client: SseTransport(HttpChannel(client, address))) as end:
            await end.initialize()
            calls = [
                JsonRpcRequest(n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}}) for n in range(1, 5)
            ]
            results = await asyncio.gather(*map(end.result, calls))
            assert [result["structuredContent"] for result in results] == [{"result": n + 1} for n in range(1, 5)]

    run_checked(main())


class Stream:
    """A server whose stream a test writes."""

    def __init__(self) -> None:
        self.peer: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    async def __call__(self, peer: Peer) -> None:
        await peer.send(sse_head() + b"event: endpoint\ndata: /post?here=1\n\n")
        self.peer.set_result(peer)
        await peer.wait_closed()


def run_transport(
    main: Callable[[TransportRecorder, Stream, RequestLog], Awaitable[None]], *answers: bytes
) -> RequestLog:
    async def whole() -> RequestLog:
        stream = Stream()
        answer, log = scripted_server(stream, *answers)
        async with (
            raw_server(answer) as server,
            open_recorder(
                lambda client: SseTransport(HttpChannel(client, f"{server.url}/sse", headers={"X-Key": "secret"}))
            ) as end,
        ):
            await main(end, stream, log)
        return log

    return run_checked(whole())


def test_the_stream_and_the_posts() -> None:
    async def main(end: TransportRecorder, stream: Stream, _: RequestLog) -> None:
        peer = await stream.peer
        end.transport.set_revision("2024-11-05")
        await end.transport.send(JsonRpcRequest(1, "x"))
        await peer.send(b": ping\n\nevent: endpoint\ndata: http://evil.example/\n\ndata: junk\n\ndata: {}\n\n")
        await peer.send(
            sse_event(result_message(1, a=1)) + b"event: message\n" + sse_event({"jsonrpc": "2.0", "method": "m"})
        )
        await end.wait_until(lambda: len(end.messages) == 2)
        assert end.messages == [JsonRpcResponse(1, {"a": 1}), JsonRpcNotification("m")]
        await end.transport.send(JsonRpcNotification("n"))

    log = run_transport(main, http_response("202 Accepted", "Accepted"), http_response("200 OK"))
    assert [line.rsplit(" ", 1)[0] for line in log.lines] == ["GET /sse", "POST /post?here=1", "POST /post?here=1"]
    assert [headers["x-key"] for headers in log.headers] == ["secret"] * 3
    assert [headers.get("mcp-protocol-version") for headers in log.headers] == [None, "2024-11-05", "2024-11-05"]
    assert log.bodies[2] == {"jsonrpc": "2.0", "method": "n"}


def test_when_the_stream_ends_the_connection_is_over() -> None:
    async def main(end: TransportRecorder, stream: Stream, _: RequestLog) -> None:
        (await stream.peer).writer.close()
        await end.wait_until(lambda: bool(end.losses))
        [(failure, request_id)] = end.losses
        assert (failure.problem, request_id) == (McpProblem.CLOSED, None)
        with pytest.raises(McpFailure, match="is closed"):
            await end.transport.send(JsonRpcNotification("x"))

    run_transport(main)


def test_a_message_without_end_is_the_end() -> None:
    async def main(end: TransportRecorder, stream: Stream, _: RequestLog) -> None:
        peer = await stream.peer
        flood = asyncio.create_task(peer.send(b"data: " + b"x" * (17 * 2**20)))
        await end.wait_until(lambda: bool(end.losses))
        flood.cancel()
        await asyncio.wait([flood])
        [(failure, request_id)] = end.losses
        assert (failure.problem, request_id) == (McpProblem.TOO_LARGE, None)

    run_transport(main)


def test_a_post_that_fails_is_told_for_its_request() -> None:
    async def main(end: TransportRecorder, _: Stream, __: RequestLog) -> None:
        failure = await end.failure(JsonRpcRequest(1, "x"))
        assert failure.message.endswith("returned 404 Not Found: no session")
        assert [request_id for _, request_id in end.losses] == [1]
        with pytest.raises(McpFailure, match="returned 500"):
            await end.transport.send(JsonRpcNotification("x"))

    run_transport(
        main,
        http_response("404 Not Found", "no session", content_type="text/plain"),
        http_response("500 Internal Server Error"),
    )


def test_forgetting_and_closing_while_a_post_is_under_way() -> None:
    async def main(end: TransportRecorder, stream: Stream, log: RequestLog) -> None:
        await stream.peer
        await end.transport.send(JsonRpcRequest(1, "x"))
        await log.wait_for_requests(2)
        end.transport.forget_request(1)
        end.transport.forget_request(99)
        await end.transport.close()
        await end.transport.close()
        assert (end.messages, end.losses) == ([], [])

    run_transport(main, b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("answer", "message", "problem"),
    [
        (http_response("405 Method Not Allowed"), "HERE returned 405 Method Not Allowed.", McpProblem.START),
        (
            http_response("401 Unauthorized"),
            "HERE requires authentication (401 Unauthorized).",
            McpProblem.UNAUTHORIZED,
        ),
        (
            http_response("200 OK", "{}", content_type="application/json"),
            "HERE sent application/json, not an event stream.",
            McpProblem.START,
        ),
        (
            sse_head() + b"event: endpoint\ndata: https://evil.example/post\n\n",
            "HERE asks to send messages to another server. Not followed.",
            McpProblem.CONFIGURATION,
        ),
        (
            sse_head() + b"event: endpoint\ndata: http://[::1/post\n\n",
            "HERE asks to send messages to another server. Not followed.",
            McpProblem.CONFIGURATION,
        ),
        (sse_head() + b"data: 1\n\n", "HERE closed the connection.", McpProblem.START),
    ],
    ids=range(6),
)
def test_a_stream_that_does_not_begin(answer: bytes, message: str, problem: McpProblem) -> None:
    async def main() -> None:
        say, _ = scripted_server(answer)
        async with raw_server(say) as server:
            with pytest.raises(McpFailure) as caught:
                async with open_recorder(lambda client: SseTransport(HttpChannel(client, server.url))):
                    pass
            told = caught.value.message.replace(f"127.0.0.1:{server.port}", "HERE")
            assert (told, caught.value.problem) == (message, problem)

    run_checked(main())


def test_opening_can_be_cancelled() -> None:
    async def wait(peer: Peer) -> None:
        await peer.wait_closed()

    async def main() -> None:
        say, log = scripted_server(wait)
        async with raw_server(say) as server:

            async def connect() -> None:
                async with open_recorder(lambda client: SseTransport(HttpChannel(client, server.url))):
                    pass

            opening = asyncio.create_task(connect())
            await log.wait_for_requests(1)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening

    run_checked(main())

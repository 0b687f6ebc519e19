"""Streamable HTTP against servers of the official package, and against one that does everything wrong."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from support.mcp.official_http_servers import official_servers
from support.mcp.transports import (
    SECONDS,
    RequestLog,
    TransportRecorder,
    http_response,
    json_response,
    open_recorder,
    result_message,
    scripted_server,
    sse_event,
    sse_head,
)
from support.raw_server import Peer, RawServer, raw_server, run_checked
from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import (
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    METHOD_NOT_FOUND,
    JsonRpcError,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
)
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.streamable_http import StreamableHttpTransport

REVISION = "2026-07-28"
ENVELOPE: JsonObject = {
    META_REVISION: REVISION,
    META_CLIENT: {"name": "a test", "version": "1"},
    META_CAPABILITIES: {},
}


@pytest.fixture(scope="module")
def servers() -> Generator[dict[str, str]]:
    with official_servers() as addresses:
        yield addresses


def text_of(result: JsonObject) -> str:
    content = cast("list[dict[str, str]]", result["content"])
    return content[0]["text"]


def call(request_id: int, name: str, **arguments: int | float | str) -> JsonRpcRequest:
    return JsonRpcRequest(request_id, "tools/call", {"name": name, "arguments": arguments})


def stateless(request_id: int, method: str, **params: object) -> JsonRpcRequest:
    return JsonRpcRequest(request_id, method, cast("JsonObject", {**params, "_meta": ENVELOPE}))


@asynccontextmanager
async def talking(answer: Callable[[Peer], Awaitable[None]]) -> AsyncGenerator[tuple[TransportRecorder, RawServer]]:
    async with (
        raw_server(answer) as server,
        open_recorder(lambda client: StreamableHttpTransport(HttpChannel(client, server.url))) as end,
    ):
        yield end, server


@pytest.mark.parametrize("name", ["stateful", "stateless", "json", "resumable"])
def test_the_official_server(servers: dict[str, str], name: str) -> None:
    async def main() -> None:
        async with open_recorder(lambda client: StreamableHttpTransport(HttpChannel(client, servers[name]))) as end:
            answer = await end.initialize()
            assert answer["protocolVersion"] == "2025-11-25"
            assert text_of(await end.result(call(1, "add", a=2, b=3))) == "5"
            together = await asyncio.gather(*(end.result(call(10 + n, "add", a=n, b=n)) for n in range(5)))
            assert [text_of(result) for result in together] == ["0", "2", "4", "6", "8"]
            assert end.losses == []

    run_checked(main())


def test_progress_comes_before_the_answer(servers: dict[str, str]) -> None:
    async def main() -> None:
        async with open_recorder(
            lambda client: StreamableHttpTransport(HttpChannel(client, servers["stateful"]))
        ) as end:
            await end.initialize()
            params: JsonObject = {"name": "slow", "arguments": {"seconds": 0}, "_meta": {"progressToken": 7}}
            assert text_of(await end.result(JsonRpcRequest(1, "tools/call", params))) == "done"
            told = [message for message in end.messages if isinstance(message, JsonRpcNotification)]
            assert told == [
                JsonRpcNotification(
                    "notifications/progress",
                    {"progressToken": 7, "progress": 1.0, "total": 2.0, "message": "on the way"},
                )
            ]

    run_checked(main())


def test_a_stream_that_the_server_ends_is_taken_up(servers: dict[str, str]) -> None:
    async def main() -> None:
        async with open_recorder(
            lambda client: StreamableHttpTransport(HttpChannel(client, servers["resumable"]))
        ) as end:
            await end.initialize()
            assert text_of(await end.result(call(1, "broken_off"))) == "taken up"

    run_checked(main())


def test_the_stateless_revision(servers: dict[str, str]) -> None:
    async def main() -> None:
        async with open_recorder(
            lambda client: StreamableHttpTransport(HttpChannel(client, servers["stateful"]))
        ) as end:
            found = await end.result(stateless(1, "server/discover"))
            assert REVISION in cast("list[str]", found["supportedVersions"])
            end.transport.set_revision(REVISION)
            assert text_of(await end.result(stateless(2, "tools/call", name="add", arguments={"a": 1, "b": 2}))) == "3"
            unknown = await end.outcome(stateless(3, "tools/nothing"))
            assert isinstance(unknown, JsonRpcError)
            assert (unknown.id, unknown.code) == (3, METHOD_NOT_FOUND)

    run_checked(main())


def test_forgetting_cancels_a_request_of_the_stateless_revision(servers: dict[str, str]) -> None:
    async def main() -> None:
        async with open_recorder(
            lambda client: StreamableHttpTransport(HttpChannel(client, servers["stateless"]))
        ) as end:
            end.transport.set_revision(REVISION)
            before = text_of(await end.result(stateless(1, "tools/call", name="cancelled_calls", arguments={})))
            about: JsonObject = {**ENVELOPE, "progressToken": 2}
            slow: JsonObject = {"name": "slow", "arguments": {"seconds": 60}, "_meta": about}
            await end.transport.send(JsonRpcRequest(2, "tools/call", slow))
            await end.wait_until(lambda: any(isinstance(message, JsonRpcNotification) for message in end.messages))
            await end.transport.send(JsonRpcNotification("notifications/cancelled", {"requestId": 2}))
            end.transport.forget_request(2)
            async with asyncio.timeout(SECONDS):
                for number in range(3, 1_000):
                    ask = stateless(number, "tools/call", name="cancelled_calls", arguments={})
                    if int(text_of(await end.result(ask))) > int(before):
                        break
                    await asyncio.sleep(0.05)
            assert end.losses == []

    run_checked(main())


def test_headers_of_the_handshake_and_after_it() -> None:
    async def main() -> None:
        answer, log = scripted_server(
            json_response(result_message(0, protocolVersion="2025-06-18"), mcp_session_id="S-1"),
            http_response("202 Accepted"),
            http_response("405 Method Not Allowed"),
            json_response([result_message(1, tools=[])]),
            http_response("200 OK"),
        )
        async with raw_server(answer) as server:
            headers = {"X-Key": "secret-of-mine", "accept": "text/html"}
            async with open_recorder(
                lambda client: StreamableHttpTransport(HttpChannel(client, server.url + "/mcp?x=1", headers=headers))
            ) as end:
                await end.initialize()
                await log.wait_for_requests(3)
                assert await end.result(JsonRpcRequest(1, "tools/list")) == {"tools": []}
        assert [line.split(" ")[:2] for line in log.lines] == [
            ["POST", "/mcp?x=1"],
            ["POST", "/mcp?x=1"],
            ["GET", "/mcp?x=1"],
            ["POST", "/mcp?x=1"],
            ["DELETE", "/mcp?x=1"],
        ]
        protocol = [{name: value for name, value in each.items() if name.startswith("mcp-")} for each in log.headers]
        later = {"mcp-protocol-version": "2025-06-18", "mcp-session-id": "S-1"}
        assert protocol == [{}, later, later, later, later]
        assert [each["x-key"] for each in log.headers] == ["secret-of-mine"] * 5
        assert [each["accept"] for each in log.headers] == [
            "application/json, text/event-stream",
            "application/json, text/event-stream",
            "text/event-stream",
            "application/json, text/event-stream",
            "text/event-stream",
        ]
        assert log.bodies[1] == {"jsonrpc": "2.0", "method": "notifications/initialized"}

    run_checked(main())


def test_headers_of_the_stateless_revision() -> None:
    async def main() -> None:
        answer, log = scripted_server(json_response(result_message(1)), json_response(result_message(2)))
        async with talking(answer) as (end, _):
            await end.result(stateless(1, "tools/list"))
            await end.result(stateless(2, "resources/read", uri="file:///Größe"))
            end.transport.set_revision(REVISION)
            await end.transport.send(JsonRpcNotification("notifications/cancelled", {"requestId": 9}))
        protocol = [{name: value for name, value in each.items() if name.startswith("mcp-")} for each in log.headers]
        assert protocol == [
            {"mcp-protocol-version": REVISION, "mcp-method": "tools/list"},
            {
                "mcp-protocol-version": REVISION,
                "mcp-method": "resources/read",
                "mcp-name": "=?base64?ZmlsZTovLy9HcsO2w59l?=",
            },
        ]

    run_checked(main())


def test_arguments_that_a_tool_wants_in_headers() -> None:
    async def main() -> None:
        schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
        answer, log = scripted_server(
            json_response(result_message(1, tools=[{"name": "t", "inputSchema": schema}])),
            json_response(result_message(2)),
            json_response(result_message(3)),
        )
        async with talking(answer) as (end, _):
            await end.result(stateless(1, "tools/list"))
            await end.result(stateless(2, "tools/call", name="t", arguments={"region": "eu"}))
            await end.result(JsonRpcRequest(3, "tools/call", {"name": "t", "arguments": {"region": "eu"}}))
        assert [headers.get("mcp-param-region") for headers in log.headers] == [None, "eu", None]

    run_checked(main())


def test_what_the_server_says_unasked() -> None:
    async def listen(peer: Peer) -> None:
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await peer.send(sse_head() + b"retry: 10\n\ndata: junk\n\nevent: other\ndata: {}\n\n" + sse_event(changed, "a"))

    async def go_on(peer: Peer) -> None:
        await peer.send(sse_head() + sse_event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}, "b"))
        await peer.wait_closed()

    async def main() -> None:
        answer, log = scripted_server(
            json_response(result_message(0, protocolVersion="2025-11-25")), http_response("202 Accepted"), listen, go_on
        )
        async with talking(answer) as (end, _):
            await end.initialize()
            await end.wait_until(lambda: len(end.messages) == 3)
            assert end.messages[1:] == [
                JsonRpcNotification("notifications/tools/list_changed"),
                JsonRpcRequest("q", "roots/list"),
            ]
        assert [each.get("last-event-id") for each in log.headers] == [None, None, None, "a"]

    run_checked(main())


def outcome_of(*answers: bytes | Callable[[Peer], Awaitable[None]], session: str | None = None) -> object:
    """What comes of a request that is answered like that."""
    return outcome_and_log(*answers, session=session)[0]


def outcome_and_log(
    *answers: bytes | Callable[[Peer], Awaitable[None]], session: str | None = None
) -> tuple[object, RequestLog]:
    greeting = json_response(result_message(0), **({} if session is None else {"mcp_session_id": session}))

    async def main() -> tuple[object, RequestLog]:
        answer, log = scripted_server(greeting, *answers)
        async with raw_server(answer) as server:
            headers = {"Authorization": "Bearer secret-of-mine"}
            async with open_recorder(
                lambda client: StreamableHttpTransport(HttpChannel(client, server.url, headers=headers))
            ) as end:
                await end.result(JsonRpcRequest(0, "initialize"))
                found = await end.outcome(JsonRpcRequest(1, "x"))
                # The request first; then all of it, if the session is gone.
                lost = [lost for _, lost in end.losses]
                assert lost == ([1, None][: len(lost)] if isinstance(found, McpFailure) else [])
                return failure_fields(found, lost[-1], server.port) if isinstance(found, McpFailure) else found, log

    return run_checked(main())


def failure_fields(failure: McpFailure, lost: RequestId | None, port: int) -> tuple[str, McpProblem, RequestId | None]:
    return failure.message.replace(f"127.0.0.1:{port}", "HERE"), failure.problem, lost


async def cut_body(peer: Peer) -> None:
    await peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{")


async def endless_event(peer: Peer) -> None:
    await peer.send(sse_head() + b"data: ")
    while True:
        await peer.send(b"x" * 2**18)


async def huge_body(peer: Peer) -> None:
    await peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n")
    while True:
        await peer.send(b" " * 2**18)


NO_MESSAGE = "HERE sent an invalid message: "
NOTHING = "HERE sent nothing instead of a response"


def typed(kind: str, body: str | bytes) -> bytes:
    return http_response("200 OK", body, content_type=kind)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (json_response({}), f"{NO_MESSAGE}not a request, notification or response."),
        (json_response([]), f"{NOTHING} (status 200)."),
        (json_response(result_message(77)), f"{NOTHING} (status 200)."),
        (typed("application/json", "[" * 100_000), f"{NO_MESSAGE}not JSON: nested too deeply."),
        (typed("application/json", b"\xff"), f"{NO_MESSAGE}not JSON: not UTF-8: invalid byte 1."),
        (sse_head() + b"data: [1,\n\n", f"{NO_MESSAGE}not JSON: Expecting value at line 1, column 4."),
        (http_response("202 Accepted"), f"{NOTHING} (status 202)."),
        (
            typed("text/html; charset=x", "<html>"),
            "HERE sent content of type text/html instead of a response (status 200).",
        ),
        (
            http_response("500 Internal Server Error", "a secret-of-mine\n\x1b[1m", content_type="text/plain"),
            "HERE returned 500 Internal Server Error: a *** <U+001B>[1m",
        ),
        (http_response("502 Bad Gateway", "<html>", content_type="text/html"), "HERE returned 502 Bad Gateway."),
        (http_response("404 Not Found"), "HERE returned 404 Not Found."),
        (http_response("599 What"), "HERE returned status 599."),
        (b"junk\r\n\r\n", "HERE did not respond with HTTP/1.1."),
    ],
    ids=range(13),
)
def test_what_is_no_answer(answer: bytes, expected: str) -> None:
    assert outcome_of(answer) == (expected, McpProblem.MALFORMED, 1)


def test_answers_that_are_too_large() -> None:
    assert outcome_of(endless_event) == ("HERE sent a message larger than 16 MiB.", McpProblem.TOO_LARGE, 1)
    assert outcome_of(huge_body) == ("HERE sent more than 16777216 bytes.", McpProblem.TOO_LARGE, 1)


def test_answers_that_are_cut() -> None:
    closed = McpProblem.CLOSED
    assert outcome_of(cut_body) == ("HERE closed the connection in the middle of the response.", closed, 1)
    assert outcome_of(b"") == ("HERE closed the connection before responding.", closed, 1)
    assert outcome_of(sse_head() + b"data: 1") == (
        "HERE sent nothing instead of a response (status 200).",
        closed,
        1,
    )


def test_errors_of_the_protocol_with_a_status() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no\x1b", "data": [1]}}
    assert outcome_of(json_response(error, "400 Bad Request")) == JsonRpcError(1, -32602, "no\x1b", [1])
    assert outcome_of(json_response(error)) == JsonRpcError(1, -32602, "no\x1b", [1])


def test_a_session_that_is_gone() -> None:
    gone = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Session not found"}}
    unknown = {"jsonrpc": "2.0", "id": 1, "error": {"code": METHOD_NOT_FOUND, "message": "x?"}}
    ended = ("HERE ended the session.", McpProblem.CLOSED, None)
    assert outcome_of(json_response(gone, "404 Not Found"), session="s") == ended
    assert outcome_of(http_response("404 Not Found"), session="s") == ended
    assert outcome_of(json_response(unknown, "404 Not Found"), session="s") == JsonRpcError(1, METHOD_NOT_FOUND, "x?")
    assert outcome_of(json_response(gone, "404 Not Found")) == JsonRpcError(1, -32600, "Session not found")


def test_a_session_that_cannot_be_named() -> None:
    async def main() -> None:
        answer, _ = scripted_server(json_response(result_message(0), mcp_session_id="ä"))
        async with talking(answer) as (end, _):
            failure = await end.failure(JsonRpcRequest(0, "initialize"))
            assert failure.problem is McpProblem.MALFORMED

    run_checked(main())


def test_a_broken_stream_is_taken_up_where_it_was() -> None:
    half = sse_head() + b"id: 1\nretry: 10\ndata:\n\n" + b'id: 2\ndata: {"half'
    outcome, log = outcome_and_log(half, sse_head(), sse_head() + sse_event(result_message(1, x=1), "3"))
    assert outcome == JsonRpcResponse(1, {"x": 1})
    assert [line.split(" ")[0] for line in log.lines[1:]] == ["POST", "GET", "GET"]
    assert [headers.get("last-event-id") for headers in log.headers[1:]] == [None, "1", "1"]


def test_nobody_goes_on_for_ever() -> None:
    begun = sse_head() + b"id: 1\nretry: 0\n\n"
    outcome, log = outcome_and_log(begun, *[sse_head()] * 20)
    assert outcome == ("HERE keeps closing the connection before responding.", McpProblem.CLOSED, 1)
    assert len(log.lines) == 7


def test_a_stream_that_cannot_be_taken_up() -> None:
    begun = sse_head() + b"id: 1\nretry: 0\n\n"
    assert outcome_of(begun, http_response("405 Method Not Allowed")) == (
        "HERE returned 405 Method Not Allowed.",
        McpProblem.MALFORMED,
        1,
    )


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent"])
@pytest.mark.parametrize("location", ["https://evil.example/take?secret=1", "http://127.0.0.1:1/x", "//evil.example/x"])
def test_redirects_are_not_followed(status: str, location: str) -> None:
    outcome, log = outcome_and_log(http_response(status, location=location))
    assert isinstance(outcome, tuple)
    origin = {"h": "https://evil.example:443", "/": "http://evil.example:80"}[location[0]]
    origin = "http://127.0.0.1:1" if "127" in location else origin
    message, problem, _ = cast("tuple[str, McpProblem, int]", outcome)
    assert message.startswith(f"HERE redirects to {origin}. Not followed")
    assert problem is McpProblem.CONFIGURATION
    assert len(log.lines) == 2


def test_a_missing_slash_is_added() -> None:
    moved = http_response("307 Temporary Redirect", location="/mcp/")
    outcome, log = outcome_and_log(moved, json_response(result_message(1)))
    assert outcome == JsonRpcResponse(1, {})
    assert [line.split(" ")[1] for line in log.lines] == ["/", "/", "/mcp/"]
    outcome, log = outcome_and_log(moved, moved)
    assert "redirects to http://HERE" in cast("tuple[str]", outcome)[0]


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_a_server_that_wants_to_know_who_asks(status: str) -> None:
    async def main() -> None:
        challenge = 'Bearer resource_metadata="https://x.example/meta"'
        answer, _ = scripted_server(*[http_response(status, www_authenticate=challenge)] * 2)
        async with talking(answer) as (end, server):
            failure = await end.failure(JsonRpcRequest(0, "initialize"))
            assert failure.message == f"127.0.0.1:{server.port} requires authentication ({status})."
            assert (failure.problem, failure.challenge) == (McpProblem.UNAUTHORIZED, challenge)
            with pytest.raises(McpFailure, match="requires authentication"):
                await end.transport.send(JsonRpcNotification("x"))

    run_checked(main())


def test_a_server_that_is_not_there() -> None:
    async def main() -> None:
        async with open_recorder(
            lambda client: StreamableHttpTransport(HttpChannel(client, "http://127.0.0.1:1"))
        ) as end:
            failure = await end.failure(JsonRpcRequest(0, "initialize"))
            assert failure.problem is McpProblem.START

    run_checked(main())


def test_an_address_that_is_none() -> None:
    async def main() -> None:
        with pytest.raises(McpFailure, match="must start with http") as caught:
            async with open_recorder(lambda client: StreamableHttpTransport(HttpChannel(client, "ftp://secret/"))):
                pass
        assert caught.value.problem is McpProblem.CONFIGURATION

    run_checked(main())


def test_closing_ends_what_is_under_way() -> None:
    async def wait(peer: Peer) -> None:
        await peer.wait_closed()

    async def main() -> None:
        answer, log = scripted_server(wait, wait)
        async with talking(answer) as (end, _):
            await end.transport.send(JsonRpcRequest(1, "x"))
            await end.transport.send(JsonRpcRequest(2, "x"))
            await log.wait_for_requests(2)
            end.transport.forget_request(2)
            await end.transport.close()
            await end.transport.close()
            assert (end.messages, end.losses) == ([], [])
            with pytest.raises(McpFailure, match="is closed"):
                await end.transport.send(JsonRpcRequest(3, "x"))

    run_checked(main())


def test_a_server_that_does_not_let_go_is_left() -> None:
    async def wait(peer: Peer) -> None:
        await peer.wait_closed()

    async def main() -> float:
        answer, _ = scripted_server(json_response(result_message(0), mcp_session_id="s"), wait)
        async with talking(answer) as (end, _):
            await end.result(JsonRpcRequest(0, "initialize"))
            before = asyncio.get_running_loop().time()
            await end.transport.close()
            return asyncio.get_running_loop().time() - before

    assert 0.5 < run_checked(main()) < 10

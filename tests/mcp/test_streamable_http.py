"""Streamable HTTP against servers of the official package, and against one that does everything wrong."""

import asyncio
from collections.abc import Generator
from typing import cast

import pytest

from mcp_transport_checks import (
    SECONDS,
    End,
    end_of,
    event,
    http,
    json_answer,
    result_of,
    scripted,
    stream_head,
)
from official_http_servers import official_servers
from raw_server import Peer, raw_server, run
from tejat.core.types import JsonObject
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.protocol import (
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    METHOD_NOT_FOUND,
    Notification,
    Refusal,
    Request,
    Result,
)
from tejat.mcp.streamable_http import StreamableHttpTransport

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


def call(request_id: int, name: str, **arguments: int | float | str) -> Request:
    return Request(request_id, "tools/call", {"name": name, "arguments": arguments})


def stateless(request_id: int, method: str, **params: object) -> Request:
    return Request(request_id, method, cast("JsonObject", {**params, "_meta": ENVELOPE}))


@pytest.mark.parametrize("name", ["stateful", "stateless", "json", "resumable"])
def test_the_official_server(servers: dict[str, str], name: str) -> None:
    async def scene() -> None:
        async with end_of(lambda client: StreamableHttpTransport(client, servers[name])) as end:
            answer = await end.greet()
            assert answer["protocolVersion"] == "2025-11-25"
            assert text_of(await end.result(call(1, "add", a=2, b=3))) == "5"
            together = await asyncio.gather(*(end.result(call(10 + n, "add", a=n, b=n)) for n in range(5)))
            assert [text_of(result) for result in together] == ["0", "2", "4", "6", "8"]
            assert end.losses == []

    run(scene())


def test_progress_comes_before_the_answer(servers: dict[str, str]) -> None:
    async def scene() -> None:
        async with end_of(lambda client: StreamableHttpTransport(client, servers["stateful"])) as end:
            await end.greet()
            params: JsonObject = {"name": "slow", "arguments": {"seconds": 0}, "_meta": {"progressToken": 7}}
            assert text_of(await end.result(Request(1, "tools/call", params))) == "done"
            told = [message for message in end.messages if isinstance(message, Notification)]
            assert told == [
                Notification(
                    "notifications/progress",
                    {"progressToken": 7, "progress": 1.0, "total": 2.0, "message": "on the way"},
                )
            ]

    run(scene())


def test_a_stream_that_the_server_ends_is_taken_up(servers: dict[str, str]) -> None:
    async def scene() -> None:
        async with end_of(lambda client: StreamableHttpTransport(client, servers["resumable"])) as end:
            await end.greet()
            assert text_of(await end.result(call(1, "broken_off"))) == "taken up"

    run(scene())

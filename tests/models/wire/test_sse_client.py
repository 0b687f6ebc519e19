"""Requests whose answers are streams, against a server that misbehaves."""

import asyncio
import time
from functools import partial
from typing import Any

import pytest

from support.model_servers.gemini import LoopbackServer, Reply, json_reply
from support.model_servers.openai import chunk, error_reply, stream, text_reply, usage_chunk
from tejat.core.model import Chunk, FailureKind, ModelFailure, ModelResponse, TextDelta, ThoughtDelta
from tejat.models import ModelOptions
from tejat.models.openai.response import OpenAIResponseReader
from tejat.models.wire.api_errors import ModelTarget, parse_api_error
from tejat.models.wire.sse_client import SseClient
from tejat.workspace.http.types import HttpLimits

ASKED = ModelTarget("m", "KEY", "secret-key-1234")
LIMITS = HttpLimits(connect=5, first_byte=0.5, idle=0.5, total=10)


def client_of(options: ModelOptions) -> SseClient:
    async def headers() -> dict[str, str]:
        return {"authorization": "Bearer secret-key-1234"}

    return SseClient(options, headers, partial(parse_api_error, target=ASKED))


def streamed(*replies: Reply) -> tuple[list[Chunk], LoopbackServer]:
    """What comes of one request after the other."""
    given = iter(replies)
    with LoopbackServer(lambda _: next(given)) as server:
        return asyncio.run(_streamed(server.address, len(replies))), server


async def _streamed(address: str, count: int) -> list[Chunk]:
    client = client_of(ModelOptions({}, http_limits=LIMITS))
    chunks: list[Chunk] = []
    try:
        for _ in range(count):
            async for each in client.stream(address, [b"{", b"}"], OpenAIResponseReader((), ASKED)):
                chunks.append(each)  # noqa: PERF401 -- what came before a failure must be seen, too
    finally:
        await client.close()
    return chunks


def failure(reply: Reply) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        streamed(reply)
    return caught.value


def test_connections_are_used_again() -> None:
    chunks, server = streamed(text_reply("one"), text_reply("two"), text_reply("three"))
    assert [each for each in chunks if isinstance(each, TextDelta)] == [
        TextDelta("one"),
        TextDelta("two"),
        TextDelta("three"),
    ]
    assert server.connections == 1
    assert [(received.method, received.raw) for received in server.requests] == [("POST", b"{}")] * 3
    assert server.requests[0].headers["authorization"] == "Bearer secret-key-1234"
    assert server.requests[0].headers["content-type"] == "application/json"


def test_the_end_of_a_stream_may_follow_a_little_later() -> None:
    whole = text_reply("Hi")
    late = Reply((*whole.pieces, b": the end\n\n"), headers=whole.headers, pause=0.02)
    _, server = streamed(late, late)
    assert server.connections == 1


def test_nobody_waits_for_a_server_that_has_said_everything() -> None:
    whole = stream(chunk(content="Hi"), chunk(reason="stop"), usage_chunk())
    size = sum(map(len, whole.pieces))
    before = time.monotonic()
    chunks, _ = streamed(Reply((*whole.pieces, b": more\n\n"), headers=whole.headers, stall_after=size))
    assert isinstance(chunks[-1], ModelResponse)
    assert chunks[-1].usage.prompt == 100
    assert time.monotonic() - before < 20


def test_a_loss_after_the_end_is_no_loss() -> None:
    whole = stream(chunk(content="Hi"), chunk(reason="stop"), usage_chunk(), done=False)
    size = sum(map(len, whole.pieces[:2]))
    for how in ("cut_after", "stall_after"):
        chunks, _ = streamed(Reply(whole.pieces, headers=whole.headers, **dict[str, Any]({how: size})))
        assert isinstance(chunks[-1], ModelResponse)
        assert chunks[-1].text == "Hi"


def test_a_stream_may_lack_its_last_empty_line() -> None:
    whole = stream(chunk(content="Hi"), chunk(reason="stop"), done=False)
    bare = b"".join(whole.pieces).rstrip()
    chunks, _ = streamed(Reply((bare,), headers=whole.headers, framing="close"))
    assert isinstance(chunks[-1], ModelResponse)
    marked = b"".join(stream(chunk(content="Hi")).pieces).rstrip()
    chunks, _ = streamed(Reply((marked,), headers=whole.headers, framing="close"))
    assert isinstance(chunks[-1], ModelResponse)


@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
def test_a_stream_that_is_cut_anywhere_is_no_answer(framing: str) -> None:
    whole = stream(chunk(content="Hi"), chunk(content="there"), chunk(reason="stop"), done=False)
    joined = b"".join(whole.pieces)
    places = [0, 1, 10, len(whole.pieces[0]) - 2, len(whole.pieces[0]), len(whole.pieces[0]) + 50, len(joined) - 40]
    for place in places:
        reply = Reply((joined,), headers=whole.headers, cut_after=place, framing=framing)
        if framing == "close":
            reply = Reply((joined[:place],), headers=whole.headers, framing=framing)
        lost = failure(reply)
        assert (lost.kind, lost.can_retry) == (FailureKind.STREAM_CUT, True)


@pytest.mark.parametrize(
    ("reply", "kind", "can_retry"),
    [
        (Reply(black_hole=True), FailureKind.TIMED_OUT, True),
        (stream(chunk(content="Hi"), chunk(reason="stop"), stall_after=30), FailureKind.TIMED_OUT, True),
        (Reply((b"<html>",), headers={"Content-Type": "text/html"}), FailureKind.PROTOCOL, False),
        (Reply((b"data: {}\n\n",)), FailureKind.PROTOCOL, False),
        (stream("not a chunk"), FailureKind.PROTOCOL, False),
        (json_reply({"error": {"message": "busy"}}), FailureKind.UNAVAILABLE, True),
        (json_reply([1]), FailureKind.PROTOCOL, False),
        (error_reply(500, "oops"), FailureKind.UNAVAILABLE, True),
        (Reply((b"x" * 2_000_000,), 503), FailureKind.UNAVAILABLE, True),
        (Reply((b"half of a page",), 503, cut_after=4), FailureKind.UNAVAILABLE, True),
        (Reply(status=302, headers={"Location": "https://elsewhere.example/?token=x"}), FailureKind.PROTOCOL, False),
    ],
)
def test_each_trouble_has_its_kind(reply: Reply, kind: FailureKind, can_retry: bool) -> None:
    lost = failure(reply)
    assert (lost.kind, lost.can_retry) == (kind, can_retry)
    assert "secret" not in lost.message
    assert "elsewhere" not in lost.message


def test_a_server_may_say_when_to_come_back() -> None:
    assert failure(error_reply(429, "slow down", headers={"Retry-After": "17"})).retry_after == 17
    assert failure(error_reply(503, "slow down", headers={"retry-after-ms": "250"})).retry_after == 0.25


def test_nobody_listens() -> None:
    with LoopbackServer(lambda _: text_reply("Hi")) as server:
        address = server.address
    with pytest.raises(ModelFailure) as caught:
        asyncio.run(_streamed(address, 1))
    assert (caught.value.kind, caught.value.can_retry) == (FailureKind.NETWORK, True)


def test_an_answer_in_one_piece() -> None:
    async def ask(address: str) -> object:
        client = client_of(ModelOptions({}))
        try:
            return await client.post(address, [b'{"a":', b"1}"])
        finally:
            await client.close()

    with LoopbackServer(lambda received: json_reply({"got": received.body})) as server:
        assert asyncio.run(ask(server.address)) == {"got": {"a": 1}}
    with LoopbackServer(lambda _: error_reply(404, "no")) as server, pytest.raises(ModelFailure) as caught:
        asyncio.run(ask(server.address))
    assert caught.value.status == 404
    with LoopbackServer(lambda _: Reply((b"{}",), cut_after=1)) as server, pytest.raises(ModelFailure) as caught:
        asyncio.run(ask(server.address))
    assert caught.value.kind is FailureKind.STREAM_CUT


def test_who_stops_reading_ends_the_request() -> None:
    piece = stream({"choices": [{"delta": {"content": "x"}}]}, done=False)
    endless = Reply(piece.pieces * 1000, headers=piece.headers, pause=0.02)

    async def first_chunk(address: str) -> Chunk:
        client = client_of(ModelOptions({}))
        chunks = client.stream(address, [b"{}"], OpenAIResponseReader((), ASKED))
        try:
            return await anext(chunks)
        finally:
            await chunks.aclose()
            await client.close()

    before = time.monotonic()
    with LoopbackServer(lambda _: endless) as server:
        assert asyncio.run(first_chunk(server.address)) == TextDelta("x")
    assert time.monotonic() - before < 20


def test_pieces_that_arrive_together_are_one() -> None:
    events = [
        chunk(content="one "),
        chunk(content="two "),
        chunk(reasoning_content="hm"),
        chunk(content="three"),
        usage_chunk(),
    ]
    whole = b"".join(stream(*events).pieces)
    chunks, _ = streamed(Reply((whole,), headers={"Content-Type": "text/event-stream"}))
    assert chunks[:-1] == [TextDelta("one two "), ThoughtDelta("hm"), TextDelta("three")]


def test_pieces_that_arrive_apart_stay_apart() -> None:
    chunks, _ = streamed(text_reply("one ", "two", pause=0.1))
    assert chunks[:-1] == [TextDelta("one "), TextDelta("two")]


def test_what_arrives_together_with_an_error_is_shown_before_it() -> None:
    seen: list[Chunk] = []
    whole = b"".join(stream(chunk(content="one "), chunk(content="two"), {"error": {"message": "overloaded"}}).pieces)

    async def run(address: str) -> None:
        client = client_of(ModelOptions({}, http_limits=LIMITS))
        try:
            async for each in client.stream(address, [b"{}"], OpenAIResponseReader((), ASKED)):
                seen.append(each)  # noqa: PERF401 -- what came before the failure must be seen
        finally:
            await client.close()

    reply = Reply((whole,), headers={"Content-Type": "text/event-stream"})
    with LoopbackServer(lambda _: reply) as server, pytest.raises(ModelFailure, match="overloaded"):
        asyncio.run(run(server.address))
    assert seen == [TextDelta("one two")]

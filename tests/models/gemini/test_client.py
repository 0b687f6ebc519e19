import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from support.media_files import png
from support.model_servers.gemini import (
    ModelServer,
    Reply,
    chunk,
    error_reply,
    function_call,
    json_reply,
    serve_in_process,
    stream,
    text_reply,
)
from tejat.core.errors import UsageError
from tejat.core.frozen import replace as changed
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Text
from tejat.core.model import (
    Capability,
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    TextDelta,
)
from tejat.models import ModelOptions
from tejat.models.gemini.client import GeminiClient, open_gemini
from tejat.workspace.http.types import HttpLimits

KEY = "a-key-that-is-secret"
HELLO = ModelRequest([user_message("hi")])


def opened(server: ModelServer, limits: HttpLimits | None = None, model: str = "gemini-2.5-pro") -> GeminiClient:
    environment = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
    return open_gemini(model, ModelOptions(environment, http_limits=limits))


@asynccontextmanager
async def client(server: ModelServer, limits: HttpLimits | None = None) -> AsyncGenerator[GeminiClient]:
    model = opened(server, limits)
    try:
        yield model
    finally:
        await model.close()


async def all_of(model: GeminiClient, request: ModelRequest = HELLO) -> list[Chunk]:
    return [found async for found in model.stream(request)]


def ask(*replies: Reply, request: ModelRequest = HELLO, limits: HttpLimits | None = None) -> list[Chunk]:
    async def run() -> list[Chunk]:
        async with client(server, limits) as model:
            return await all_of(model, request)

    with ModelServer(replies) as server:
        return asyncio.run(run())


def failure_of(reply: Reply, limits: HttpLimits | None = None) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        ask(reply, limits=limits)
    assert KEY not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


def test_a_request_as_the_service_gets_it() -> None:
    with ModelServer([text_reply("Hello")]) as server:
        asyncio.run(one(server))
        (request,) = server.requests
    assert request.target == "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    assert {name: request.headers[name] for name in ("x-goog-api-key", "content-type")} == {
        "x-goog-api-key": KEY,
        "content-type": "application/json",
    }
    assert request.body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8192}},
    }


async def one(server: ModelServer) -> list[Chunk]:
    async with client(server) as model:
        return await all_of(model)


def test_a_conversation_over_one_connection() -> None:
    async def run() -> list[Chunk]:
        history: list[Message] = [user_message("list")]
        async with client(server) as model:
            (*_, first) = await all_of(model, ModelRequest(tuple(history)))
            assert isinstance(first, ModelResponse)
            history += [first.message, user_message(FunctionResponse("ls", {"output": "a"}, "1"))]
            return await all_of(model, ModelRequest(tuple(history)))

    with ModelServer(
        [text_reply("I look.", function_call("ls", {"path": "."}, id="1", thoughtSignature="s==")), text_reply("One.")]
    ) as server:
        text, answer = asyncio.run(run())
        assert server.connections == 1
        contents: Any = server.requests[1].body["contents"]
    assert text == TextDelta("One.")
    assert isinstance(answer, ModelResponse)
    assert (answer.reason, answer.message.parts) == (FinishReason.STOP, (Text("One."),))
    assert contents == [
        {"role": "user", "parts": [{"text": "list"}]},
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": "s=="},
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "1", "name": "ls", "response": {"output": "a"}}}],
        },
    ]


def test_text_is_given_as_it_comes() -> None:
    async def run() -> None:
        async with client(server) as model, aclosing(model.stream(HELLO)) as chunks:
            started = time.monotonic()
            assert await anext(chunks) == TextDelta("one")
            assert time.monotonic() - started < 5

    with ModelServer([text_reply("one", "two", "three", pause=2.5)]) as server:
        asyncio.run(run())


def test_whoever_stops_reading_ends_the_request() -> None:
    async def run() -> None:
        async with client(server) as model:
            chunks = model.stream(HELLO)
            await anext(chunks)
            await chunks.aclose()
            assert [found async for found in model.stream(HELLO)][-1:] != []

    with ModelServer([stream(chunk("Hel"), chunk("lo"), stall_after=250), text_reply("Hello")]) as server:
        asyncio.run(asyncio.wait_for(run(), 60))
        assert server.connections == 2


def test_several_at_once() -> None:
    async def run() -> list[list[Chunk]]:
        async with client(server) as model:
            return await asyncio.gather(*(all_of(model) for _ in range(10)))

    with ModelServer([text_reply("Hello", pause=0.05)] * 10) as server:
        answers = asyncio.run(run())
    assert [chunks[0] for chunks in answers] == [TextDelta("Hello")] * 10


QUICK = HttpLimits(connect=5.0, first_byte=0.3, idle=0.3, total=5.0)
HALF = stream(chunk("Hel"), chunk(function_call("rm", {"path": "/"}), reason="STOP"))


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (replace(HALF, cut_after=0), FailureKind.STREAM_CUT),
        (replace(HALF, cut_after=100), FailureKind.STREAM_CUT),
        (replace(HALF, cut_after=300), FailureKind.STREAM_CUT),
        (replace(HALF, cut_after=300, framing="close"), FailureKind.STREAM_CUT),
        (replace(HALF, cut_after=300, framing="length"), FailureKind.STREAM_CUT),
        (stream(chunk("Hel")), FailureKind.STREAM_CUT),
        (stream(), FailureKind.STREAM_CUT),
        (replace(HALF, stall_after=0), FailureKind.TIMED_OUT),
        (replace(HALF, stall_after=250), FailureKind.TIMED_OUT),
        (Reply(black_hole=True), FailureKind.TIMED_OUT),
        (error_reply(503, "busy"), FailureKind.UNAVAILABLE),
        (replace(error_reply(503, "busy"), pieces=(b"y" * 2**21,)), FailureKind.UNAVAILABLE),
        (replace(error_reply(503, "busy"), cut_after=5), FailureKind.UNAVAILABLE),
        (error_reply(429, "slow"), FailureKind.RATE_LIMITED),
    ],
)
def test_trouble_that_may_pass(reply: Reply, kind: FailureKind) -> None:
    started = time.monotonic()
    failure = failure_of(reply, QUICK)
    assert (failure.kind, failure.can_retry) == (kind, True)
    assert time.monotonic() - started < 15


PAGE = Reply((b"<html>Please log in to the WiFi</html>",), headers={"Content-Type": "text/html"})
SSE = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (PAGE, FailureKind.PROTOCOL, "content type text/html"),
        (replace(PAGE, headers={}), FailureKind.PROTOCOL, "content type unknown"),
        (replace(PAGE, status=302), FailureKind.PROTOCOL, "Please log in to the WiFi"),
        (Reply((b"data: {nonsense\n\n",), headers=SSE), FailureKind.PROTOCOL, "line 1"),
        (Reply((b"data: " + b"[" * 100_000 + b"\n\n",), headers=SSE), FailureKind.PROTOCOL, "nested too deeply"),
        (Reply((b": x" * 2**20,) * 30, headers=SSE), FailureKind.PROTOCOL, "longer than"),
        (json_reply("nonsense"), FailureKind.PROTOCOL, "not an object"),
        (error_reply(400, f"bad key {KEY}"), FailureKind.BAD_REQUEST, r"bad key \*\*\*"),
        (error_reply(401, "who?"), FailureKind.AUTHENTICATION, "rejected the API key"),
        (Reply((b"x" * 2**20,) * 65, headers={"Content-Type": "application/json"}), FailureKind.PROTOCOL, "sent more"),
    ],
)
def test_trouble_that_stays(reply: Reply, kind: FailureKind, words: str) -> None:
    failure = failure_of(reply)
    assert (failure.kind, failure.can_retry) == (kind, False)
    with pytest.raises(ModelFailure, match=words):
        raise failure


def test_nobody_is_there() -> None:
    with ModelServer() as server:
        address = server.address

    async def run() -> None:
        model = open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": address}))
        with pytest.raises(ModelFailure) as caught:
            await all_of(model)
        assert (caught.value.kind, caught.value.can_retry) == (FailureKind.NETWORK, True)
        await model.close()

    asyncio.run(run())


def test_an_answer_that_is_no_stream() -> None:
    assert ask(json_reply([chunk("Hel"), chunk("lo", reason="STOP")]))[0] == TextDelta("Hello")


def test_a_last_event_without_an_empty_line() -> None:
    whole = b"data: " + json.dumps(chunk("Hello", reason="STOP")).encode()
    assert ask(Reply((whole,), headers=SSE))[0] == TextDelta("Hello")
    assert failure_of(Reply((whole[:-9],), headers=SSE)).kind is FailureKind.STREAM_CUT


def test_signatures_of_another_model_are_given_up_once_refused() -> None:
    history = (
        user_message("hi"),
        model_message(FunctionCall("f", {}, "1", "made-by-another")),
        user_message(FunctionResponse("f", {}, "1")),
    )

    async def run() -> None:
        async with client(server) as model:
            with pytest.raises(ModelFailure) as caught:
                await all_of(model, ModelRequest(history))
            assert (caught.value.can_retry, caught.value.retry_after) == (True, 0.0)
            (*_, answer) = await all_of(model, ModelRequest(history))
            assert isinstance(answer, ModelResponse)
            longer = (*history, answer.message, user_message("go on"))
            with pytest.raises(ModelFailure) as caught:
                await all_of(model, ModelRequest(longer))
            assert caught.value.can_retry
            with pytest.raises(ModelFailure) as caught:
                await all_of(model, ModelRequest(longer))
            assert not caught.value.can_retry

    refused = error_reply(400, "Corrupted thought signature.")
    replies = [refused, text_reply({"text": "x", "thoughtSignature": "own"}), refused, refused]
    with ModelServer(replies) as server:
        asyncio.run(run())
        sent = [[part.get("thoughtSignature") for part in parts_of(request.body)] for request in server.requests]
    stand_in = "skip_thought_signature_validator"
    assert sent == [
        [None, "made-by-another", None],
        [None, stand_in, None],
        [None, stand_in, None, "own", None],
        [None, stand_in, None, None, None],
    ]


def parts_of(body: Any) -> list[dict[str, object]]:
    return [part for content in body["contents"] for part in content["parts"]]


def test_tokens_are_counted_by_the_service_or_guessed() -> None:
    request = ModelRequest([user_message("x" * 300)], system="Be brief.")

    async def run() -> int:
        async with client(server) as model:
            return await model.count_tokens(request)

    with ModelServer(count=42) as server:
        assert asyncio.run(run()) == 42
        assert server.requests[0].target == "/v1beta/models/gemini-2.5-pro:countTokens"
        assert server.requests[0].body == {
            "generateContentRequest": {
                "model": "models/gemini-2.5-pro",
                "contents": [{"role": "user", "parts": [{"text": "x" * 300}]}],
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
            }
        }
    with ModelServer() as server:
        assert asyncio.run(run()) == 78


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"GEMINI_API_KEY": "one"}, "one"),
        ({"GOOGLE_API_KEY": "two"}, "two"),
        ({"GEMINI_API_KEY": " one\n", "GOOGLE_API_KEY": "two"}, "one"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "two"}, "two"),
    ],
)
def test_which_key_is_used(environment: Mapping[str, str], key: str) -> None:
    async def run() -> None:
        model = open_gemini("gemini-2.5-pro", ModelOptions(environment, base_url=server.address))
        await all_of(model)
        await model.close()

    with ModelServer([text_reply("Hello")]) as server:
        asyncio.run(run())
        assert server.requests[0].headers["x-goog-api-key"] == key


def test_one_large_picture_does_not_end_the_conversation() -> None:
    pictures = [InlineData("image/png", png() + bytes(size)) for size in (6_000_000, 10_000_000)]
    messages = (user_message(pictures[0]), model_message("Black."), user_message(pictures[1]))
    with ModelServer([text_reply("Black too.")]) as server:

        async def run() -> None:
            async with client(server) as model:
                await all_of(model, ModelRequest(messages))

        asyncio.run(run())
        assert len(server.requests[0].raw) < 20_000_000
        kinds = [next(iter(part)) for part in parts_of(server.requests[0].body)]
    assert kinds == ["text", "text", "inlineData"]


@pytest.mark.parametrize("key", ["a\nb", "é"])
def test_what_can_be_no_key(key: str) -> None:
    with pytest.raises(UsageError, match="GEMINI_API_KEY contains characters"):
        open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": key}))


@pytest.mark.parametrize("environment", [{}, {"GEMINI_API_KEY": ""}, {"OPENAI_API_KEY": "x"}])
def test_without_a_key_there_is_no_model(environment: Mapping[str, str]) -> None:
    with pytest.raises(ModelFailure, match="GEMINI_API_KEY") as caught:
        open_gemini("gemini-2.5-pro", ModelOptions(environment))
    assert caught.value.kind is FailureKind.NO_KEY


def test_a_gateway_that_needs_no_key() -> None:
    async def run() -> None:
        model = open_gemini("gemini-2.5-pro", ModelOptions({"GOOGLE_GEMINI_BASE_URL": server.address}, needs_key=False))
        try:
            await all_of(model)
        finally:
            await model.close()

    with ModelServer([text_reply("Hello")]) as server:
        with pytest.raises(ModelFailure, match="unregistered callers"):  # this gateway wants one after all
            asyncio.run(run())
        assert "x-goog-api-key" not in server.requests[0].headers


def test_a_key_is_not_sent_in_the_clear_by_a_setting() -> None:
    with pytest.raises(UsageError, match=r"The API key would be sent unencrypted to example\.com"):
        open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": KEY}, base_url="http://example.com"))
    said = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "http://example.com/"}
    model = open_gemini("gemini-2.5-pro", ModelOptions(said, base_url="http://other.example"))
    assert model._endpoint.url("x") == "http://example.com/v1beta/models/gemini-2.5-pro:x"


@pytest.mark.parametrize(
    "address", ["example.com", "ftp://example.com", "https://", "https://x/?key=y", "https://x/#y", "https://[x"]
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UsageError, match=r"The setting model\.baseUrl is not a valid service address"):
        open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": KEY}, base_url=address))


@pytest.mark.parametrize(
    ("version", "path"), [("", "v1beta"), ("beta", "v1beta"), ("v1", "v1"), ("v1alpha", "v1alpha")]
)
def test_the_version_of_the_interface(version: str, path: str) -> None:
    model = open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": KEY, "GOOGLE_GENAI_API_VERSION": version}))
    usual = "https://generativelanguage.googleapis.com"
    assert model._endpoint.url("x") == f"{usual}/{path}/models/gemini-2.5-pro:x"


def test_what_is_no_version() -> None:
    with pytest.raises(UsageError, match="GOOGLE_GENAI_API_VERSION"):
        open_gemini("x", ModelOptions({"GEMINI_API_KEY": KEY, "GOOGLE_GENAI_API_VERSION": "../v1"}))


def test_what_is_known_of_a_model_without_asking() -> None:
    model = open_gemini("tunedModels/mine", ModelOptions({"GEMINI_API_KEY": KEY}))
    assert (model.name, model.context_window, model.capabilities) == (
        "tunedModels/mine",
        128_000,
        frozenset(Capability),
    )
    assert model._endpoint.url("x") == "https://generativelanguage.googleapis.com/v1beta/tunedModels/mine:x"


def test_the_rest_of_a_request_is_made_anew_when_it_changes() -> None:
    async def run() -> None:
        async with client(server) as model:
            for system in ("a", "a", "b", ""):
                await all_of(model, changed(HELLO, system=system))

    with ModelServer([text_reply("Hello")] * 4) as server:
        asyncio.run(run())
        systems = [request.body.get("systemInstruction") for request in server.requests]
    assert systems == [{"parts": [{"text": "a"}]}] * 2 + [{"parts": [{"text": "b"}]}, None]


def test_a_service_in_another_process() -> None:
    async def run(address: str) -> None:
        model = open_gemini("gemini-2.5-pro", ModelOptions({"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": address}))
        assert [(await all_of(model))[0] for _ in range(3)] == [TextDelta("a"), TextDelta("b"), TextDelta("a")]
        await model.close()

    with serve_in_process([text_reply("a"), text_reply("b")]) as address:
        asyncio.run(run(address))


def test_a_refused_setting_is_left_out_from_then_on() -> None:
    generation = {"topK": 3, "temperature": 0.5}
    request = ModelRequest([user_message("hi")], generation=generation)
    refusal = error_reply(400, "top_k is not supported for this model")

    async def run() -> None:
        async with client(server) as model:
            await all_of(model, request)
            await all_of(model, request)

    with ModelServer([refusal, text_reply("one"), text_reply("two")]) as server:
        asyncio.run(run())
        sent = [request.body["generationConfig"] for request in server.requests]
    assert ["topK" in config for config in sent] == [True, False, False]
    assert all(config["temperature"] == 0.5 for config in sent)


def test_a_setting_that_is_refused_again_is_told() -> None:
    refusal = error_reply(400, "thinking_budget is out of range")
    with pytest.raises(ModelFailure, match="thinking_budget"):
        ask(refusal, refusal)

"""Models behind OpenAI's Responses API, against a server that keeps its rules."""

from typing import Any

import pytest

from support.model_servers.client_use import use_client
from support.model_servers.gemini import Reply, json_reply
from support.model_servers.openai import OpenAiServer
from support.model_servers.openai import text_reply as chat_reply
from support.model_servers.responses import (
    ResponsesServer,
    call_item,
    completed,
    error_reply,
    events_of,
    failed,
    incomplete,
    items_reply,
    message_item,
    reasoning_item,
    response,
    stream,
    text_reply,
)
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text, Thought
from tejat.core.model import (
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models import ModelOptions, open_model
from tejat.models.openai.client import OpenAIClient, open_openai
from tejat.models.openai.responses_client import ResponsesClient
from tejat.models.openai.responses_request import preserve_item, preserve_phase
from tejat.models.wire.common import wire_name

TOOLS = (FunctionDeclaration("read.file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
TOOL = wire_name("read.file")
HELLO = ModelRequest((user_message("Hello"),))
KEY = "sk-secret-key-1234"
MODEL = "gpt-6"


async def collect(client: ModelClient, request: ModelRequest = HELLO) -> list[Chunk]:
    return [each async for each in client.stream(request)]


def at(server: ResponsesServer, model: str = MODEL) -> ModelClient:
    environment = {"OPENAI_BASE_URL": server.base, "OPENAI_API_KEY": KEY}
    return open_openai(model, ModelOptions(environment, openai_api="responses"))


def asked(*replies: Reply, request: ModelRequest = HELLO, model: str = MODEL) -> tuple[list[Chunk], list[Any]]:
    """All chunks, and the bodies of all requests that they took."""
    with ResponsesServer(*replies) as server:
        chunks = use_client(at(server, model), lambda client: collect(client, request))
        return chunks, [received.body for received in server.requests]


def answer_of(*replies: Reply, request: ModelRequest = HELLO) -> ModelResponse:
    last = asked(*replies, request=request)[0][-1]
    assert isinstance(last, ModelResponse)
    return last


def failure_of(*replies: Reply) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        asked(*replies)
    assert KEY not in caught.value.message
    return caught.value


def test_reasoning_is_kept_across_turns() -> None:
    reasoning = [reasoning_item(1, "First.", "Second."), reasoning_item(2)]
    server = ResponsesServer(
        items_reply(
            reasoning[0],
            message_item("I look.", phase="commentary"),
            reasoning[1],
            call_item(TOOL, '{"path":"a"}', "call_a"),
            call_item(TOOL, '{"path":"b"}', "call_b"),
        ),
        text_reply("Two ", "files."),
    )

    async def converse(client: ModelClient) -> tuple[list[Chunk], list[Chunk]]:
        prompt = user_message("Read a and b.")
        request = ModelRequest([prompt], "Be brief.", TOOLS)
        first = await collect(client, request)
        answer = first[-1]
        assert isinstance(answer, ModelResponse)
        results = [FunctionResponse(call.name, {"output": f"<{call.args['path']}>"}, call.id) for call in answer.calls]
        request = replace(request, messages=[prompt, answer.message, user_message(*results)])
        return first, await collect(client, request)

    with server:
        first, second = use_client(at(server), converse)
        sent = [request.body for request in server.requests]
        (headers,) = {request.headers["authorization"] for request in server.requests}
    answer = first[-1]
    assert isinstance(answer, ModelResponse)
    assert answer.message.parts == (
        Thought("First.\n\nSecond."),
        preserve_item(reasoning[0], MODEL),
        preserve_phase("commentary", MODEL),
        Text("I look."),
        preserve_item(reasoning[1], MODEL),
        FunctionCall("read.file", {"path": "a"}, "call_a"),
        FunctionCall("read.file", {"path": "b"}, "call_b"),
    )
    assert answer.usage == Usage(prompt=100, cached=40, output=20, thoughts=10, cache_write=5)
    assert (answer.reason, answer.model) == (FinishReason.STOP, "gpt-6-2026")
    shown = "".join(chunk.text for chunk in first if isinstance(chunk, ThoughtDelta))
    assert shown == "First.\n\nSecond."
    assert "".join(chunk.text for chunk in second if isinstance(chunk, TextDelta)) == "Two files."
    kinds = [item["type"] for item in sent[1]["input"]]
    assert kinds == [
        "message",
        "reasoning",
        "message",
        "reasoning",
        *["function_call"] * 2,
        *["function_call_output"] * 2,
    ]
    assert sent[1]["input"][1] == reasoning[0]
    assert sent[1]["input"][2]["phase"] == "commentary"
    assert sent[0]["prompt_cache_key"] == sent[1]["prompt_cache_key"]
    assert sent[1]["input"][: len(sent[0]["input"])] == sent[0]["input"]
    assert headers == f"Bearer {KEY}"


def test_reasoning_of_another_account_is_dropped() -> None:
    message = answer_of(items_reply(reasoning_item(1), message_item("One."))).message
    request = ModelRequest([user_message("a"), message, user_message("b")], tools=TOOLS)
    refusal = error_reply(400, "The encrypted content gAAAA could not be verified.", code="invalid_encrypted_content")
    _, sent = asked(refusal, text_reply("Two."), request=request)
    assert [[item["type"] for item in body["input"]] for body in sent] == [
        ["message", "reasoning", "message", "message"],
        ["message", "message", "message"],
    ]


def test_a_model_without_reasoning() -> None:
    _, (sent,) = asked(text_reply("Hi"), model="gpt-4.1")
    assert not {"reasoning", "include"} & sent.keys()


def test_what_a_server_rejects_is_left_out_from_then_on() -> None:
    _, sent = asked(error_reply(400, "Your organization must be verified to use summaries."), text_reply("Hi"))
    assert ["reasoning" in body for body in sent] == [True, False]
    assert all(body["include"] for body in sent)


def test_an_answer_that_was_cut_off() -> None:
    cut = call_item(TOOL, '{"path":"a', "call_b", "incomplete")
    whole = call_item(TOOL, '{"path":"a"}', "call_a")
    answer = answer_of(stream(*events_of(message_item("Well,"), whole, cut), incomplete("max_output_tokens")))
    assert (answer.reason, answer.text, [call.id for call in answer.calls]) == (
        FinishReason.MAX_TOKENS,
        "Well,",
        ["call_a"],
    )
    assert answer.usage.prompt == 100


@pytest.mark.parametrize(
    "reply",
    [
        stream(*events_of(message_item()), incomplete("content_filter")),
        items_reply(message_item(refusal="I cannot help with that.")),
    ],
)
def test_a_refusal(reply: Reply) -> None:
    answer = answer_of(reply)
    assert answer.reason is FinishReason.BLOCKED
    assert answer.detail


def test_a_call_that_cannot_be_read() -> None:
    answer = answer_of(items_reply(call_item(TOOL, "path=a")))
    assert answer.reason is FinishReason.MALFORMED_CALL
    assert TOOL in answer.detail
    assert not answer.calls


def test_a_stream_that_breaks_off() -> None:
    events = events_of(message_item("Hello"))
    assert failure_of(stream(*events)).kind is FailureKind.STREAM_CUT
    whole_call = events_of(call_item(TOOL, "{}"))
    assert [call.id for call in answer_of(stream(*whole_call)).calls] == ["call_1"]
    assert failure_of(stream(*whole_call, *events[:2])).kind is FailureKind.STREAM_CUT


def test_a_server_that_does_not_stream() -> None:
    document = response(output=[message_item("Hi"), call_item(TOOL, "{}")], usage=completed()["response"]["usage"])
    chunks, _ = asked(json_reply(document))
    assert chunks[0] == TextDelta("Hi")
    answer = chunks[-1]
    assert isinstance(answer, ModelResponse)
    assert (answer.text, len(answer.calls), answer.usage.prompt) == ("Hi", 1, 100)


@pytest.mark.parametrize(
    ("reply", "kind", "status", "can_retry"),
    [
        (stream(failed("server_error", "oops")), FailureKind.UNAVAILABLE, 500, True),
        (stream(failed("server_is_overloaded", "later")), FailureKind.UNAVAILABLE, 503, True),
        (stream(failed("context_length_exceeded", "too long")), FailureKind.CONTEXT_FULL, 500, False),
        (stream(failed("insufficient_quota", "pay")), FailureKind.RATE_LIMITED, 500, False),
        (stream(failed("invalid_prompt", "no")), FailureKind.BAD_REQUEST, 400, False),
        (stream(failed("image_too_large", "no")), FailureKind.BAD_REQUEST, 400, False),
        (stream({"type": "error", "code": "server_error", "message": "oops"}), FailureKind.UNAVAILABLE, 500, True),
        (error_reply(401, f"Incorrect API key provided: {KEY}"), FailureKind.AUTHENTICATION, 401, False),
        (error_reply(404, "The model `x` does not exist", code="model_not_found"), FailureKind.BAD_REQUEST, 404, False),
        (error_reply(400, "no", code="context_length_exceeded"), FailureKind.CONTEXT_FULL, 400, False),
        (error_reply(500, "oops"), FailureKind.UNAVAILABLE, 500, True),
    ],
)
def test_failures(reply: Reply, kind: FailureKind, status: int, can_retry: bool) -> None:
    failure = failure_of(reply)
    assert (failure.kind, failure.status, failure.can_retry) == (kind, status, can_retry)


@pytest.mark.parametrize(("text", "wait"), [("11.5s", 11.5), ("250ms", 0.25)])
def test_how_long_to_wait(text: str, wait: float) -> None:
    failure = failure_of(stream(failed("rate_limit_exceeded", f"Rate limit reached. Please try again in {text}.")))
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMITED, wait)


def test_which_api_is_used() -> None:
    def opened(**options: Any) -> type:
        client = open_openai(MODEL, ModelOptions(**options))
        use_client(client, lambda _: _nothing())
        return type(client)

    own, openai = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, {}
    key = {"OPENAI_API_KEY": KEY}
    assert opened(environment=key | openai) is ResponsesClient
    assert opened(environment=key | {"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}) is ResponsesClient
    assert opened(environment=key | own) is OpenAIClient
    assert opened(environment=key | openai, openai_api="chat") is OpenAIClient
    assert opened(environment=key | own, openai_api="responses") is ResponsesClient


async def _nothing() -> None:
    pass


def test_ollama_is_asked_for_chat_completions() -> None:
    with OpenAiServer(chat_reply("Hi")) as server:
        options = ModelOptions({"OLLAMA_HOST": server.address}, openai_api="responses")
        use_client(open_model("ollama:m", options), collect)
        assert server.requests[-1].target == "/v1/chat/completions"

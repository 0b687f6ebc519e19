"""Models behind OpenAI's chat completions, against a server that keeps its rules."""

import json
from typing import Any

import pytest

from support.media_files import png
from support.model_servers.client_use import joined_text, use_client
from support.model_servers.gemini import LoopbackServer, Reply
from support.model_servers.openai import OpenAiServer, call_chunk, chunk, error_reply, stream, text_reply, usage_chunk
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Text, Thought
from tejat.core.model import (
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
    Usage,
)
from tejat.models import ModelOptions, open_model
from tejat.models.openai.client import open_openai
from tejat.models.wire.common import wire_name

TOOLS = (FunctionDeclaration("read.file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
HELLO = ModelRequest((user_message("Hello"),))
KEY = "sk-secret-key-1234"


async def collect(client: ModelClient, request: ModelRequest = HELLO) -> list[Chunk]:
    return [each async for each in client.stream(request)]


def at(server: OpenAiServer, **environment: str) -> ModelClient:
    return open_openai("m", ModelOptions({"OPENAI_BASE_URL": server.base, **environment}), needs_key=False)


def asked(*replies: Reply, request: ModelRequest = HELLO) -> tuple[ModelResponse, list[Any]]:
    """The answer, and the bodies of all requests that it took."""
    with OpenAiServer(*replies) as server:
        chunks = use_client(at(server), lambda client: collect(client, request))
        assert isinstance(chunks[-1], ModelResponse)
        return chunks[-1], [received.body for received in server.requests]


def test_a_conversation() -> None:
    server = OpenAiServer(
        stream(
            chunk(content="I look."),
            chunk(tool_calls=[call_chunk(0, call_id="call_a", name=wire_name("read.file"), arguments='{"path":"a"}')]),
            chunk(tool_calls=[call_chunk(1, call_id="call_b", name=wire_name("read.file"), arguments='{"path":"b"}')]),
            chunk(reason="tool_calls"),
            usage_chunk(),
        ),
        text_reply("Two ", "files."),
    )

    async def converse(client: ModelClient) -> tuple[Message, list[Chunk]]:
        prompt = user_message("Read a and b.")
        request = ModelRequest([prompt], "Be brief.", TOOLS)
        answer = (await collect(client, request))[-1]
        assert isinstance(answer, ModelResponse)
        responses = [
            FunctionResponse(call.name, {"output": f"<{call.args['path']}>"}, call.id) for call in answer.calls
        ]
        request = replace(request, messages=[prompt, answer.message, user_message(*responses)])
        return answer.message, await collect(client, request)

    with server:
        message, chunks = use_client(at(server, OPENAI_API_KEY=KEY), converse)
    assert message.parts == (
        Text("I look."),
        FunctionCall("read.file", {"path": "a"}, "call_a"),
        FunctionCall("read.file", {"path": "b"}, "call_b"),
    )
    assert joined_text(chunks[:-1]) == "Two files."
    assert isinstance(chunks[-1], ModelResponse)
    assert (chunks[-1].text, chunks[-1].usage) == ("Two files.", Usage(100, 40, 20, 10))
    first, second = (received.body for received in server.requests)
    assert second["messages"][:2] == first["messages"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert [message.get("content") for message in second["messages"][3:]] == ["<a>", "<b>"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.connections == 1


def test_without_a_key_none_is_sent() -> None:
    with OpenAiServer(text_reply("Hi")) as server:
        use_client(at(server), collect)
    assert "authorization" not in server.requests[0].headers


def test_what_a_server_does_not_take_is_left_out_from_then_on() -> None:
    replies = [
        error_reply(400, "Unrecognized request argument supplied: stream_options"),
        text_reply("one"),
        text_reply("two"),
    ]

    async def twice(client: ModelClient) -> None:
        await collect(client)
        await collect(client)

    with OpenAiServer(*replies) as server:
        use_client(at(server), twice)
    assert ["stream_options" in received.body for received in server.requests] == [True, False, False]


def test_a_server_that_does_not_say_what_it_does_not_take() -> None:
    answer, bodies = asked(error_reply(422, "bad request"), text_reply("Hi"))
    assert answer.text == "Hi"
    assert ["stream_options" in body for body in bodies] == [True, False]


def test_a_server_that_took_it_before_is_believed() -> None:
    async def twice(client: ModelClient) -> None:
        await collect(client)
        await collect(client)

    with (
        OpenAiServer(text_reply("one"), error_reply(400, "bad request")) as server,
        pytest.raises(ModelFailure, match="bad request"),
    ):
        use_client(at(server), twice)
    assert len(server.requests) == 2


def test_several_lessons_in_a_row() -> None:
    picture = InlineData("image/png", b"x")
    request = ModelRequest(
        (user_message("see", picture),), response_schema=SCHEMA, max_output_tokens=9, temperature=0.0
    )
    answer, bodies = asked(
        error_reply(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        error_reply(400, "Unsupported value: 'temperature'"),
        error_reply(400, "This response_format type is unavailable now"),
        error_reply(400, "response_format is not supported"),
        error_reply(400, "image input is not supported"),
        text_reply('{"answer":"x"}'),
        request=request,
    )
    assert answer.text == '{"answer":"x"}'
    kept = {"model", "stream", "stream_options", "max_completion_tokens", "messages"}
    assert bodies[-1].keys() == kept
    assert [message["role"] for message in bodies[-1]["messages"]] == ["system", "user"]
    assert [body.get("response_format", {}).get("type") for body in bodies] == [
        "json_schema",
        "json_schema",
        "json_schema",
        "json_object",
        None,
        None,
    ]


def test_a_server_that_refuses_whatever_is_done_is_not_asked_for_ever() -> None:
    def refusing(*_: object) -> Reply:
        return error_reply(400, "reasoning_content and stream_options and temperature are all wrong")

    with LoopbackServer(refusing) as server:
        client = open_openai("m", ModelOptions({}), base_url=f"{server.address}/v1", needs_key=False)
        with pytest.raises(ModelFailure) as caught:
            use_client(client, collect)
    assert caught.value.kind is FailureKind.BAD_REQUEST
    assert len(server.requests) <= 4


def test_thoughts_go_back_to_a_server_that_insists() -> None:
    told = (user_message("Hello"), model_message(Thought("hm"), "Hi"), user_message("Well?"))
    insists = error_reply(400, "The `reasoning_content` must be passed back to the API.")
    answer, bodies = asked(insists, text_reply("Ho"), request=ModelRequest(told))
    assert answer.text == "Ho"
    assert [body["messages"][1] for body in bodies] == [
        {"role": "assistant", "content": "Hi"},
        {"role": "assistant", "content": "Hi", "reasoning_content": "hm"},
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 413])
def test_what_is_final_is_not_tried_again(status: int) -> None:
    with OpenAiServer(error_reply(status, "stream_options are not to blame")) as server, pytest.raises(ModelFailure):
        use_client(at(server), collect)
    assert len(server.requests) == 1


def test_an_error_after_the_first_words_teaches_nothing() -> None:
    half = stream(chunk(content="Hi"), {"error": {"message": "stream_options", "code": 400}})
    with OpenAiServer(half, text_reply("again")) as server, pytest.raises(ModelFailure):
        use_client(at(server), collect)
    assert len(server.requests) == 1


def test_media_that_do_not_fit_make_room() -> None:
    large = InlineData("image/png", png() + bytes(20_000_000))
    told = [user_message("old", large), user_message("new", large)]
    with LoopbackServer(lambda _: text_reply("Hi")) as server:
        client = open_openai("m", ModelOptions({}), base_url=f"{server.address}/v1", needs_key=False)
        use_client(client, lambda client: collect(client, ModelRequest(told)))
    old, new = server.requests[0].body["messages"]
    assert old["content"] == f"old\n[image/png of {len(large.data)} bytes was left out: this model takes only text.]"
    assert [part["type"] for part in new["content"]] == ["text", "image_url"]


def test_tokens_are_estimated() -> None:
    with OpenAiServer() as server:
        assert use_client(at(server), lambda client: client.count_tokens(HELLO)) > 0
    assert server.requests == []


def test_a_message_is_encoded_once() -> None:
    prompt = user_message("Hello")

    async def twice(client: ModelClient) -> list[bytes]:
        encoders = client._encoders  # pyright: ignore[reportAttributeAccessIssue]
        await collect(client, ModelRequest([prompt]))
        before = encoders[False, True, False].get(prompt)
        await collect(client, ModelRequest([prompt]))
        assert encoders[False, True, False].get(prompt) is before
        return [before]

    with OpenAiServer(text_reply("one"), text_reply("two")) as server:
        assert json.loads(use_client(at(server), twice)[0]) == {"role": "user", "content": "Hello"}


def test_who_is_asked() -> None:
    with pytest.raises(ModelFailure) as caught:
        open_openai("gpt-x", ModelOptions({}))
    assert caught.value.kind is FailureKind.NO_KEY
    assert "OPENAI_API_KEY" in caught.value.message
    with pytest.raises(UsageError):
        open_openai("gpt-x", ModelOptions({"OPENAI_API_KEY": KEY}, base_url="http://elsewhere.example/v1"))

    async def facts(client: ModelClient) -> tuple[str, int, frozenset[object]]:
        return client.name, client.context_window, frozenset(client.capabilities)

    client = open_openai("gpt-4o", ModelOptions({"OPENAI_API_KEY": KEY}))
    assert use_client(client, facts) == ("gpt-4o", 128_000, frozenset())


def test_openai_itself_knows_the_new_name_of_the_limit() -> None:
    client = open_openai("gpt-5", ModelOptions({"OPENAI_API_KEY": KEY}, openai_api="chat"))
    pieces = client._body(replace(HELLO, max_output_tokens=5), client._dialect)  # pyright: ignore[reportAttributeAccessIssue]
    assert json.loads(b"".join(pieces))["max_completion_tokens"] == 5
    use_client(client, lambda client: client.count_tokens(HELLO))


def test_with_the_loop_around_it() -> None:
    replies = [error_reply(503, "busy", headers={"Retry-After": "0"}), stream(chunk(reason="stop")), text_reply("Hi")]
    with OpenAiServer(*replies) as server:
        options = ModelOptions({"OPENAI_BASE_URL": server.base})
        chunks = use_client(_impatient(open_model("openai:m", options)), collect)
    assert [(each.kind, each.attempt) for each in chunks if isinstance(each, Retry)] == [
        (FailureKind.UNAVAILABLE, 1),
        (FailureKind.EMPTY, 2),
    ]
    assert isinstance(chunks[-1], ModelResponse)
    assert chunks[-1].text == "Hi"


def _impatient(client: ModelClient) -> ModelClient:
    client._first_wait = 0.0  # pyright: ignore[reportAttributeAccessIssue]
    return client


def test_ollama_by_its_host() -> None:
    whole = chunk(tool_calls=[call_chunk(None, name="read_file", arguments={"path": "a"})], reason="stop")
    with OpenAiServer(stream(whole, done=True)) as server:
        options = ModelOptions({"OLLAMA_HOST": server.address})
        request = replace(HELLO, tools=(replace(TOOLS[0], name="read_file"),))
        chunks = use_client(open_model("ollama:qwen3", options), lambda client: collect(client, request))
    assert isinstance(chunks[-1], ModelResponse)
    assert chunks[-1].calls == (FunctionCall("read_file", {"path": "a"}),)
    assert server.requests[0].body["model"] == "qwen3"

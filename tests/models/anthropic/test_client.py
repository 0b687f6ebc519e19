"""Anthropic's models, against a server that keeps its rules."""

import json
from typing import Any

import pytest

from support.model_servers.anthropic import (
    AnthropicServer,
    block,
    call_block,
    error_reply,
    message_end,
    message_start,
    stream,
    text_block,
    text_reply,
    thinking_block,
)
from support.model_servers.client_use import joined_text, use_client
from support.model_servers.gemini import Reply
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text, Thought
from tejat.core.model import (
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Usage,
)
from tejat.models import ModelOptions, open_model
from tejat.models.anthropic.client import open_anthropic
from tejat.models.anthropic.request import ANSWER_TOOL, preserve_block

TOOLS = (FunctionDeclaration("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
HELLO = ModelRequest((user_message("Hello"),), "Be brief.", TOOLS)
KEY = "sk-ant-secret-1234"
NEW, OLD = "claude-opus-4-6", "claude-3-5-haiku-latest"
BOUND = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."


async def collect(client: ModelClient, request: ModelRequest = HELLO) -> list[Chunk]:
    return [each async for each in client.stream(request)]


def at(server: AnthropicServer, model: str = NEW) -> ModelClient:
    return open_anthropic(model, ModelOptions({"ANTHROPIC_BASE_URL": server.address, "ANTHROPIC_API_KEY": KEY}))


def asked(*replies: Reply, request: ModelRequest = HELLO, model: str = NEW) -> tuple[ModelResponse, list[Any]]:
    """The answer, and the bodies of all requests that it took."""
    with AnthropicServer(*replies) as server:
        chunks = use_client(at(server, model), lambda client: collect(client, request))
        assert isinstance(chunks[-1], ModelResponse)
        return chunks[-1], [received.body for received in server.requests]


def marks(body: Any) -> list[str]:
    """Where the cache is marked."""
    places = [("tools", body.get("tools", ())), ("system", body.get("system", ()))]
    places += [(f"{number}", message["content"]) for number, message in enumerate(body["messages"])]
    return [name for name, blocks in places for found in blocks if "cache_control" in found]


def test_a_conversation() -> None:
    thought = {"type": "thinking", "thinking": "I should look.", "signature": "AbC+/=="}
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    server = AnthropicServer(
        stream(
            message_start(),
            *thinking_block(0, "AbC+/==", "I should ", "look."),
            *block(1, hidden),
            *text_block(2, "I look."),
            *call_block(3, "toolu_a", "read_file", '{"path":', '"a"}'),
            *call_block(4, "toolu_b", "read_file", '{"path":"b"}'),
            *message_end("tool_use"),
        ),
        text_reply("Two ", "files."),
    )

    async def converse(client: ModelClient) -> tuple[Message, list[Chunk]]:
        answer = (await collect(client))[-1]
        assert isinstance(answer, ModelResponse)
        responses = [
            FunctionResponse("read_file", {"output": f"<{call.args['path']}>"}, call.id) for call in answer.calls
        ]
        told = [*HELLO.messages, answer.message, user_message(*responses)]
        return answer.message, await collect(client, replace(HELLO, messages=told))

    with server:
        message, chunks = use_client(at(server), converse)
    assert message.parts == (
        Thought("I should look."),
        preserve_block(thought, NEW),
        preserve_block(hidden, NEW),
        Text("I look."),
        FunctionCall("read_file", {"path": "a"}, "toolu_a"),
        FunctionCall("read_file", {"path": "b"}, "toolu_b"),
    )
    assert joined_text(chunks[:-1]) == "Two files."
    assert isinstance(chunks[-1], ModelResponse)
    assert (chunks[-1].text, chunks[-1].usage) == ("Two files.", Usage(100, 70, 42, cache_write=20))
    first, second = (received.body for received in server.requests)
    assert second["messages"][1]["content"][:3] == [thought, hidden, {"type": "text", "text": "I look."}]
    assert [found["tool_use_id"] for found in second["messages"][2]["content"]] == ["toolu_a", "toolu_b"]
    assert (marks(first), marks(second)) == (["tools", "system", "0"], ["tools", "system", "0", "2"])
    assert server.requests[0].headers["x-api-key"] == KEY
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"
    assert server.connections == 1


class TestThoughts:
    MESSAGE = model_message(
        preserve_block({"type": "thinking", "thinking": "hm", "signature": "old"}, NEW),
        FunctionCall("read_file", {}, "1"),
    )
    TOLD = (*HELLO.messages, MESSAGE, user_message(FunctionResponse("read_file", {"output": "x"}, "1")))
    REQUEST = replace(HELLO, messages=TOLD)

    def test_they_are_forgotten_when_they_are_refused(self) -> None:
        async def twice(client: ModelClient) -> None:
            await collect(client, self.REQUEST)
            await collect(client, self.REQUEST)

        with AnthropicServer(error_reply(400, BOUND), text_reply("one"), text_reply("two")) as server:
            use_client(at(server), twice)
        types = [[found["type"] for found in received.body["messages"][1]["content"]] for received in server.requests]
        assert types == [["thinking", "tool_use"], ["tool_use"], ["tool_use"]]
        assert all("thinking" in received.body for received in server.requests)

    def test_later_ones_go_back_again(self) -> None:
        later = model_message(preserve_block({"type": "thinking", "thinking": "", "signature": "new"}, NEW), "Hi")

        async def both(client: ModelClient) -> None:
            await collect(client, self.REQUEST)
            await collect(client, replace(HELLO, messages=(*self.TOLD, later, user_message("Well?"))))

        with AnthropicServer(error_reply(400, BOUND), text_reply("one"), text_reply("two")) as server:
            use_client(at(server), both)
        sent = [[found["type"] for found in message["content"]] for message in server.requests[-1].body["messages"]]
        assert sent == [["text"], ["tool_use"], ["tool_result"], ["thinking", "text"], ["text"]]

    def test_on_the_side_they_are_not_sent(self) -> None:
        for request in (replace(self.REQUEST, tools=()), replace(self.REQUEST, response_schema=SCHEMA)):
            _, bodies = asked(text_reply("{}"), request=request)
            assert [found["type"] for found in bodies[0]["messages"][1]["content"]] == ["tool_use"]

    def test_another_model_does_not_get_them(self) -> None:
        _, bodies = asked(text_reply("Hi"), request=self.REQUEST, model="claude-sonnet-5")
        assert [found["type"] for found in bodies[0]["messages"][1]["content"]] == ["tool_use"]

    def test_a_service_that_goes_on_refusing(self) -> None:
        with AnthropicServer(*[error_reply(400, BOUND)] * 9) as server, pytest.raises(ModelFailure) as caught:
            use_client(at(server), lambda client: collect(client, self.REQUEST))
        assert caught.value.kind is FailureKind.BAD_REQUEST
        assert len(server.requests) == 3


class TestAnswersInJson:
    REQUEST = replace(HELLO, response_schema=SCHEMA)

    def test_a_new_model_is_told_the_format(self) -> None:
        answer, bodies = asked(text_reply('{"answer":', '"x"}'), request=self.REQUEST)
        assert answer.text == '{"answer":"x"}'
        assert "output_config" in bodies[0]

    def test_an_old_model_must_call_a_tool(self) -> None:
        call = call_block(0, "1", ANSWER_TOOL, '{"answer":"x"}')
        answer, bodies = asked(
            stream(message_start(), *call, *message_end("tool_use")), request=self.REQUEST, model=OLD
        )
        assert answer.message.parts == (Text('{"answer":"x"}'),)
        assert bodies[0]["tool_choice"] == {"type": "tool", "name": ANSWER_TOOL}

    def test_else_by_words(self) -> None:
        replies = [
            error_reply(400, "output_config: Extra inputs are not permitted"),
            error_reply(400, "tool_choice: forced tool use is not supported by this model"),
            text_reply('{"answer":"x"}'),
        ]
        answer, bodies = asked(*replies, request=self.REQUEST)
        assert answer.text == '{"answer":"x"}'
        assert [("output_config" in body, "tool_choice" in body) for body in bodies] == [
            (True, False),
            (False, True),
            (False, False),
        ]
        assert "JSON schema" in bodies[-1]["system"][0]["text"]


def test_what_is_learned_is_kept() -> None:
    replies = [
        error_reply(400, "thinking: adaptive thinking is not supported"),
        error_reply(400, "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens"),
        error_reply(400, "cache_control: Extra inputs are not permitted"),
        text_reply("one"),
        text_reply("two"),
    ]

    async def twice(client: ModelClient) -> None:
        await collect(client)
        await collect(client)

    with AnthropicServer(*replies) as server:
        use_client(at(server), twice)
    bodies = [received.body for received in server.requests]
    assert [(body["max_tokens"], "thinking" in body, bool(marks(body))) for body in bodies] == [
        (64_000, True, True),
        (64_000, False, True),
        (8192, False, True),
        (8192, False, False),
        (8192, False, False),
    ]


@pytest.mark.parametrize(
    ("reply", "kind", "can_retry"),
    [
        (error_reply(401, "bad", kind="authentication_error"), FailureKind.AUTHENTICATION, False),
        (error_reply(403, "bad", kind="permission_error"), FailureKind.AUTHENTICATION, False),
        (error_reply(404, "model: x", kind="not_found_error"), FailureKind.BAD_REQUEST, False),
        (error_reply(400, "prompt is too long: 9 tokens > 8 maximum"), FailureKind.CONTEXT_FULL, False),
        (error_reply(413, "large", kind="request_too_large"), FailureKind.CONTEXT_FULL, False),
        (error_reply(429, "slow down", kind="rate_limit_error"), FailureKind.RATE_LIMITED, True),
        (error_reply(500, "oops", kind="api_error"), FailureKind.UNAVAILABLE, True),
        (error_reply(529, "Overloaded", kind="overloaded_error"), FailureKind.UNAVAILABLE, True),
        (stream(message_start(), *text_block(0, "Hi")), FailureKind.STREAM_CUT, True),
    ],
)
def test_each_trouble_has_its_kind(reply: Reply, kind: FailureKind, can_retry: bool) -> None:
    with AnthropicServer(reply) as server, pytest.raises(ModelFailure) as caught:
        use_client(at(server), collect)
    assert (caught.value.kind, caught.value.can_retry, len(server.requests)) == (kind, can_retry, 1)
    assert KEY not in caught.value.message


def test_tokens_are_counted_by_the_service() -> None:
    with AnthropicServer(count=77) as server:
        assert use_client(at(server), lambda client: client.count_tokens(HELLO)) == 77
    assert server.requests[0].target == "/v1/messages/count_tokens"
    with AnthropicServer() as server:
        assert use_client(at(server), lambda client: client.count_tokens(HELLO)) > 10
    assert len(server.requests) == 1


def test_a_gateway_with_a_token_of_its_own() -> None:
    with AnthropicServer(text_reply("Hi")) as server:
        environment = {"ANTHROPIC_BASE_URL": f"{server.address}/v1/", "ANTHROPIC_AUTH_TOKEN": "token-1234"}
        use_client(open_model("anthropic:some-model", ModelOptions(environment)), collect)
    assert server.requests[0].headers["authorization"] == "Bearer token-1234"
    assert "x-api-key" not in server.requests[0].headers


def test_who_is_asked() -> None:
    with pytest.raises(ModelFailure) as caught:
        open_anthropic(NEW, ModelOptions({}))
    assert caught.value.kind is FailureKind.NO_KEY
    assert "ANTHROPIC_API_KEY" in caught.value.message
    with pytest.raises(UsageError):
        open_anthropic(NEW, ModelOptions({"ANTHROPIC_API_KEY": KEY}, base_url="http://elsewhere.example"))

    async def facts(client: ModelClient) -> tuple[str, bool, frozenset[object]]:
        return client.name, client.context_window >= 200_000, frozenset(client.capabilities)

    assert use_client(open_anthropic(NEW, ModelOptions({"ANTHROPIC_API_KEY": KEY})), facts) == (NEW, True, frozenset())


def test_a_message_is_encoded_once() -> None:
    async def twice(client: ModelClient) -> None:
        encoded = client._encoder(with_thinking=True, media=True)  # pyright: ignore[reportAttributeAccessIssue]
        await collect(client)
        before = encoded.get(HELLO.messages[0])
        await collect(client)
        assert encoded.get(HELLO.messages[0]) is before
        assert json.loads(before) == {"role": "user", "content": [{"type": "text", "text": "Hello"}]}

    with AnthropicServer(text_reply("one"), text_reply("two")) as server:
        use_client(at(server), twice)

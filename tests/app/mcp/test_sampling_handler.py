"""Servers that ask the model: what it is asked, what they are answered, who may, and what it costs."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.external_tools import AgentTranscript, ExternalToolsEnv, call_reply, hostile_server, rude_server
from support.mcp.clients import read_messages
from support.model_servers.gemini import USAGE, chunk, function_call, stream, text_reply
from support.wait import wait_until_async
from tejat.app.mcp.sampling_handler import handle_sampling_request
from tejat.core.agent.events import Answered, EndReason
from tejat.core.messages.history import Message, Role, history_problem, model_message
from tejat.core.messages.types import InlineData, JsonObject, Text
from tejat.core.model import FailureKind, FinishReason, ModelFailure, ModelRequest, ModelResponse
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import INTERNAL_ERROR, INVALID_PARAMS

PICTURE = b"\x89PNG"


class Model:
    """Answers as it was told, and keeps what it was asked."""

    def __init__(self, answer: ModelResponse | ModelFailure) -> None:
        self._answer = answer
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        if isinstance(self._answer, ModelFailure):
            raise self._answer
        return self._answer


def prompt_message(role: str, *content: Any) -> JsonObject:
    """A message of the protocol. A text stands for a block of text."""
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {"role": role, "content": blocks[0] if len(blocks) == 1 else blocks}


def sampled(model: Model, **params: Any) -> JsonObject:
    return asyncio.run(handle_sampling_request(model.ask, "bad", params))


def plain(messages: "tuple[Message, ...]") -> list[tuple[Role, tuple[object, ...]]]:
    return [(message.role, message.parts) for message in messages]


SAID = st.text().filter(str.strip)


class TestRequest:
    def test_is_what_the_server_says_and_without_tools(self) -> None:
        model = Model(ModelResponse(model_message("Paris."), model="m-1"))
        picture = {"type": "image", "data": base64.b64encode(PICTURE).decode(), "mimeType": "image/png"}
        messages = [
            prompt_message("user", "Hi."),
            prompt_message("assistant", "Hello."),
            prompt_message("user", "Where is it?", picture),
        ]
        assert sampled(model, messages=messages, systemPrompt="Be brief.", maxTokens=9, temperature=1) == {
            "role": "assistant",
            "content": {"type": "text", "text": "Paris."},
            "model": "m-1",
            "stopReason": "endTurn",
        }
        (request,) = model.requests
        assert plain(tuple(request.messages)) == [
            (Role.USER, (Text("Hi."),)),
            (Role.MODEL, (Text("Hello."),)),
            (Role.USER, (Text("Where is it?"), InlineData("image/png", PICTURE))),
        ]
        assert (request.system, request.max_output_tokens, request.purpose) == (
            "Be brief.",
            9,
            "sampling for MCP server bad",
        )
        assert tuple(request.tools) == ()

    @pytest.mark.parametrize("limit", [None, 0, -1, True, "9", 1.5])
    def test_without_a_limit_that_is_one(self, limit: object) -> None:
        model = Model(ModelResponse(model_message("x")))
        sampled(model, messages=[prompt_message("user", "?")], maxTokens=limit, systemPrompt=7)
        assert (model.requests[0].max_output_tokens, model.requests[0].system) == (None, "")

    @given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), SAID), min_size=1, max_size=12))
    def test_holds_every_word_in_a_legal_order(self, spoken: list[tuple[str, str]]) -> None:
        model = Model(ModelResponse(model_message("x")))
        messages = [prompt_message(role, text) for role, text in spoken]
        if (spoken[0][0], spoken[-1][0]) != ("user", "user"):
            with pytest.raises(McpFailure, match="the first and the last message must be the user's"):
                sampled(model, messages=messages)
            return
        sampled(model, messages=messages)
        asked = model.requests[0].messages
        assert history_problem(asked) is None
        roles = {"user": Role.USER, "assistant": Role.MODEL}
        assert [(message.role, part) for message in asked for part in message.parts] == [
            (roles[role], Text(text)) for role, text in spoken
        ]

    @pytest.mark.parametrize(
        "messages",
        [
            None,
            "hi",
            [],
            [prompt_message("user", " \r")],
            [prompt_message("user", "x")] * 201,
            ["hi"],
            [{"content": {"type": "text", "text": "x"}}],
            [prompt_message("system", "x")],
            [{"role": ["user"], "content": "x"}],
            [{"role": "user"}],
            [{"role": "user", "content": []}],
            [prompt_message("user", {"type": "text"})],
            [prompt_message("user", {"type": "tool_use", "id": "1", "name": "x", "input": {}})],
            [prompt_message("user", {"type": "image", "data": "!!!", "mimeType": "image/png"})],
            [prompt_message("user", {"type": "image", "data": "é", "mimeType": "image/png"})],
            [prompt_message("user", {"type": "audio", "data": "aGk="})],
            [prompt_message("assistant", "x"), prompt_message("user", "y")],
        ],
    )
    def test_of_nonsense_is_refused_before_anybody_is_asked(self, messages: Any) -> None:
        model = Model(ModelResponse(model_message("x")))
        with pytest.raises(McpFailure, match="This cannot be asked of the model: ") as caught:
            sampled(model, messages=messages)
        assert (caught.value.problem, caught.value.code) == (McpProblem.REFUSED, INVALID_PARAMS)
        assert model.requests == []


class TestAnswer:
    def test_that_was_cut_short(self) -> None:
        answer = ModelResponse(model_message("Par"), reason=FinishReason.MAX_TOKENS)
        told = sampled(Model(answer), messages=[prompt_message("user", "?")])
        assert (told["stopReason"], told["model"]) == ("maxTokens", "unknown")

    def test_that_never_came_says_nothing_of_why(self) -> None:
        model = Model(ModelFailure("The key abc is wrong.", FailureKind.NO_KEY))
        with pytest.raises(McpFailure) as caught:
            sampled(model, messages=[prompt_message("user", "?")])
        assert (caught.value.message, caught.value.code) == ("The model did not answer.", INTERNAL_ERROR)


class TestRuns:
    ASKS = call_reply(
        "bad__ask", method="sampling/createMessage", params={"messages": [prompt_message("user", "Where?")]}
    )

    @pytest.fixture
    def env(self, tmp_path: Path) -> ExternalToolsEnv:
        return ExternalToolsEnv(tmp_path)

    def answer(self, transcript: AgentTranscript) -> Any:
        return json.loads(transcript.responses[0].splitlines()[1])

    def test_a_server_that_may_gets_an_answer_and_it_is_counted(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server(trust=True, sampling=True)})
        transcript = env.run_agent(self.ASKS, text_reply("In Paris."))
        assert self.answer(transcript)["content"] == {"type": "text", "text": "In Paris."}
        assert "tools" not in transcript.bodies[1]
        assert [event.purpose for event in transcript.events if isinstance(event, Answered)] == [
            "conversation",
            "sampling for MCP server bad",
            "conversation",
        ]
        (ended,) = transcript.results
        assert ended.usage.total == 3 * USAGE["totalTokenCount"]

    def test_what_is_left_of_the_budget_counts(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server(trust=True, sampling=True)})
        params = {"messages": [prompt_message("user", "Where?")]}
        asks = function_call("bad__ask", {"method": "sampling/createMessage", "params": params})
        usage = {"promptTokenCount": 50_000, "candidatesTokenCount": 0, "totalTokenCount": 50_000}
        transcript = env.run_agent(stream(chunk(asks, reason="STOP", usageMetadata=usage)), max_tokens=50_000)
        assert transcript.results[0].reason is EndReason.TOKEN_LIMIT
        assert len(transcript.bodies) == 1

    @pytest.mark.parametrize("whose", ["person", "project"])
    def test_nobody_else_may(self, env: ExternalToolsEnv, whose: str) -> None:
        record = env.base / "record"
        entry = hostile_server(f"record={record}")
        if whose == "person":
            env.write_user_settings(mcpServers={"bad": entry})
        else:
            env.write_project_settings(mcpServers={"bad": {**entry, "sampling": True}})
        env.write_policy('[[rule]]\ntool = "*"\nserver = "bad"\ndecision = "allow"\n')
        transcript = env.run_agent(self.ASKS)
        assert self.answer(transcript)["code"] == -32601
        (introduced,) = [message for message in read_messages(record) if message.get("method") == "initialize"]
        assert "sampling" not in str(introduced)

    def test_between_two_prompts_nobody_may(self, env: ExternalToolsEnv) -> None:
        answered = env.base / "answered"
        env.write_user_settings(mcpServers={"rude": rude_server("sampling/createMessage", answered, sampling=True)})

        async def main() -> AgentTranscript:
            async with env.open_session() as (_, transcript):
                await wait_until_async(lambda: answered.exists() and answered.read_text().endswith("\n"))
                return transcript

        transcript = asyncio.run(main())
        assert json.loads(answered.read_text())["error"]["code"] == INTERNAL_ERROR
        assert transcript.requests == []

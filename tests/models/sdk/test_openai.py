"""Conversations with `openai`: the real SDK against a server that rejects what the service would reject."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from support.model_servers.conversation import Call, ConversationServer, Turn
from support.sdk_tools import NOTE, PICTURE, READ_NOTE, READ_NOTHING, READ_PICTURE, answer, open_registry, run
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import FunctionCall
from tejat.tools.registry import ToolRegistry

IMAGE_URL = f"data:image/png;base64,{b64encode(PICTURE).decode()}"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ToolRegistry]:
    with open_registry(tmp_path) as registry:
        yield registry


def client_of(server: ConversationServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.address}/v1", api_key="a-key-for-tests", max_retries=0)


def chat(registry: ToolRegistry, *turns: Turn) -> tuple[str | None, list[Any]]:
    """Hold a conversation. Returns the answer, and the messages that answered the calls, as the server got them."""
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    with ConversationServer(*turns) as server, client_of(server) as client:
        while True:
            completion = client.chat.completions.create(model="gpt", messages=messages, tools=registry.to_openai())
            messages.append(completion.choices[0].message)
            replies = answer("openai", registry, completion)
            if not replies:
                return completion.choices[0].message.content, server.last_body["messages"][2:]
            messages += replies


def respond(registry: ToolRegistry, *turns: Turn) -> tuple[str, list[Any]]:
    items: list[Any] = [{"role": "user", "content": "Go."}]
    with ConversationServer(*turns) as server, client_of(server) as client:
        while True:
            response = client.responses.create(model="gpt", input=items, tools=registry.to_openai_responses())
            items += response.output
            replies = answer("openai_responses", registry, response)
            if not replies:
                sent = server.last_body["input"]
                return response.output_text, [item for item in sent if item.get("type") == "function_call_output"]
            items += replies


class TestChat:
    def test_a_call_and_its_result_make_two_turns(self, registry: ToolRegistry) -> None:
        text, replies = chat(registry, [READ_NOTE], "It is heron.")
        assert text == "It is heron."
        assert [(reply["role"], reply["content"]) for reply in replies] == [("tool", NOTE)]

    def test_pictures_follow_the_results_of_all_calls(self, registry: ToolRegistry) -> None:
        _, replies = chat(registry, [READ_PICTURE, READ_NOTE], "Seen.")
        assert [reply["role"] for reply in replies] == ["tool", "tool", "user"]
        assert replies[1]["content"] == NOTE
        assert [part["image_url"]["url"] for part in replies[2]["content"] if part["type"] == "image_url"] == [
            IMAGE_URL
        ]

    def test_failures_are_answers(self, registry: ToolRegistry) -> None:
        _, replies = chat(registry, [READ_NOTHING], "I see.")
        assert "nothing.txt" in replies[0]["content"]

    def test_single_calls_and_results_can_be_converted(self, registry: ToolRegistry) -> None:
        with ConversationServer([READ_PICTURE], "Seen.") as server, client_of(server) as client:
            messages: list[Any] = [{"role": "user", "content": "Go."}]
            declared = [tool.to_openai() for tool in registry.declarations()]
            asked = client.chat.completions.create(model="gpt", messages=messages, tools=declared)
            message = asked.choices[0].message
            assert message.tool_calls
            call = FunctionCall.from_openai(message.tool_calls[0])
            messages += [message, *run(registry, call).to_openai(call)]
            answered = client.chat.completions.create(model="gpt", messages=messages, tools=declared)
        assert (call.name, call.args) == ("read_file", READ_PICTURE.arguments)
        assert answered.choices[0].message.content == "Seen."

    def test_arguments_that_are_no_object_are_refused(self) -> None:
        call = {"id": "1", "function": {"name": "read_file", "arguments": '["a"]'}}
        with pytest.raises(ToolFailure, match="arguments of read_file") as caught:
            FunctionCall.from_openai(call)
        assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS

    def test_a_call_of_another_kind_is_left_to_the_caller(self, registry: ToolRegistry) -> None:
        custom = {"id": "1", "type": "custom", "custom": {"name": "grammar", "input": "x"}}
        assert answer("openai", registry, {"tool_calls": [custom]}) == []


class TestResponses:
    def test_a_call_and_its_result_make_two_turns(self, registry: ToolRegistry) -> None:
        text, outputs = respond(registry, [READ_NOTE], "It is heron.")
        assert (text, [output["output"] for output in outputs]) == ("It is heron.", [NOTE])

    def test_results_hold_their_pictures(self, registry: ToolRegistry) -> None:
        _, outputs = respond(registry, [READ_NOTE, READ_PICTURE], "Seen.")
        assert outputs[0]["output"] == NOTE
        images = [part["image_url"] for part in outputs[1]["output"] if part["type"] == "input_image"]
        assert images == [IMAGE_URL]

    def test_failures_are_answers(self, registry: ToolRegistry) -> None:
        _, outputs = respond(registry, [READ_NOTHING], "I see.")
        assert "nothing.txt" in outputs[0]["output"]

    def test_single_calls_and_results_can_be_converted(self, registry: ToolRegistry) -> None:
        with ConversationServer([READ_NOTE], "Seen.") as server, client_of(server) as client:
            declared = [tool.to_openai_responses() for tool in registry.declarations()]
            asked = client.responses.create(model="gpt", input="Go.", tools=declared)
            call = FunctionCall.from_openai_responses(asked.output[0])
            items: list[Any] = [{"role": "user", "content": "Go."}, *asked.output]
            items += run(registry, call).to_openai_responses(call)
            answered = client.responses.create(model="gpt", input=items, tools=declared)
        assert answered.output_text == "Seen."


def test_names_that_the_service_does_not_take_are_restored(registry: ToolRegistry) -> None:
    tool = registry.declarations()[0]
    odd = type(tool)("server.tool with spaces", tool.description, tool.parameters_json_schema)
    sent = Call(odd.to_openai()["function"]["name"], "{}")
    assert sent.name != odd.name
    call = {"id": "1", "function": {"name": sent.name, "arguments": sent.arguments}}
    assert FunctionCall.from_openai(call, [odd]).name == odd.name
    assert FunctionCall.from_openai(call).name == sent.name

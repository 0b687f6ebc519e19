"""Conversations with `google-genai`: the real SDK against a server that rejects what the service would reject."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import types

from support.model_servers.conversation import ConversationServer, Turn
from support.model_servers.gemini import read_message, to_camel_case
from support.sdk_tools import NOTE, PICTURE, READ_NOTE, READ_NOTHING, READ_PICTURE, answer, open_registry, run
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData
from tejat.tools.registry import ToolRegistry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ToolRegistry]:
    with open_registry(tmp_path) as registry:
        yield registry


def client_of(server: ConversationServer) -> genai.Client:
    return genai.Client(api_key="a-key-for-tests", http_options=types.HttpOptions(base_url=server.address))


def converse(registry: ToolRegistry, *turns: Turn) -> tuple[str | None, Any]:
    """Hold a conversation. Returns the answer, and the content that answered the calls, as the server got it."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": "Go."}]}]
    with ConversationServer(*turns) as server, client_of(server) as client:
        while True:
            config = types.GenerateContentConfig(tools=registry.to_gemini())
            response = client.models.generate_content(model="gemini", contents=contents, config=config)
            assert response.candidates
            contents.append(response.candidates[0].content)
            replies = answer("gemini", registry, response)
            if not replies:
                return response.text, to_camel_case(server.last_body["contents"][-1])
            contents += replies


def test_a_call_and_its_result_make_two_turns(registry: ToolRegistry) -> None:
    text, content = converse(registry, [READ_NOTE], "It is heron.")
    assert text == "It is heron."
    (part,) = content["parts"]
    assert part["functionResponse"]["response"] == {"output": NOTE}
    assert part["functionResponse"]["id"].startswith("call_0_")


def test_responses_hold_their_pictures_since_gemini_3(registry: ToolRegistry) -> None:
    _, content = converse(registry, [READ_PICTURE, READ_NOTE], "Seen.")
    assert len(content["parts"]) == 2
    assert "parts" in content["parts"][0]["functionResponse"]
    assert InlineData("image/png", PICTURE) in read_message(content).parts


def test_failures_are_answers(registry: ToolRegistry) -> None:
    _, content = converse(registry, [READ_NOTHING], "I see.")
    assert "nothing.txt" in content["parts"][0]["functionResponse"]["response"]["error"]


def test_single_calls_and_results_can_be_converted(registry: ToolRegistry) -> None:
    with ConversationServer([READ_PICTURE], "Seen.") as server, client_of(server) as client:
        declared: list[Any] = [tool.to_gemini() for tool in registry.declarations()]
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declared)])
        contents: list[Any] = [{"role": "user", "parts": [{"text": "Go."}]}]
        asked = client.models.generate_content(model="gemini", contents=contents, config=config)
        assert asked.candidates
        assert asked.function_calls
        call = FunctionCall.from_gemini(asked.function_calls[0])
        contents += [asked.candidates[0].content, *run(registry, call).to_gemini(call)]
        answered = client.models.generate_content(model="gemini", contents=contents, config=config)
    assert answered.text == "Seen."
    assert (call.name, call.args) == ("read_file", READ_PICTURE.arguments)
    sent = to_camel_case(server.last_body["contents"][-1])["parts"]
    assert [next(iter(part)) for part in sent] == ["functionResponse", "inlineData"]


def test_a_response_alone_is_a_part() -> None:
    part = FunctionResponse("read_file", {"output": "x"}, "1").to_gemini()
    assert part == {"functionResponse": {"id": "1", "name": "read_file", "response": {"output": "x"}}}


def test_a_call_without_arguments_has_none() -> None:
    call = types.FunctionCall(name="list_directory")
    assert FunctionCall.from_gemini(call) == FunctionCall("list_directory", {})

"""Conversations with `anthropic`: the real SDK against a server that rejects what the service would reject."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from support.model_servers.conversation import ConversationServer, Turn
from support.sdk_tools import NOTE, PICTURE, READ_NOTE, READ_NOTHING, READ_PICTURE, answer, open_registry, run
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.tools.registry import ToolRegistry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ToolRegistry]:
    with open_registry(tmp_path) as registry:
        yield registry


def client_of(server: ConversationServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.address, api_key="a-key-for-tests", max_retries=0)


def converse(registry: ToolRegistry, *turns: Turn) -> tuple[str, list[Any]]:
    """Hold a conversation. Returns the answer, and the blocks that answered the calls, as the server got them."""
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    with ConversationServer(*turns) as server, client_of(server) as client:
        while True:
            message = client.messages.create(
                model="claude", max_tokens=1000, messages=messages, tools=registry.to_anthropic()
            )
            messages.append({"role": "assistant", "content": message.content})
            replies = answer("anthropic", registry, message)
            if not replies:
                (block,) = message.content
                return getattr(block, "text", ""), server.last_body["messages"][-1]["content"]
            messages += replies


def test_a_call_and_its_result_make_two_turns(registry: ToolRegistry) -> None:
    text, blocks = converse(registry, [READ_NOTE], "It is heron.")
    assert text == "It is heron."
    assert [block["content"] for block in blocks] == [[{"type": "text", "text": NOTE}]]


def test_results_hold_their_pictures(registry: ToolRegistry) -> None:
    _, blocks = converse(registry, [READ_PICTURE, READ_NOTE], "Seen.")
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(PICTURE).decode()}
    assert blocks[0]["content"][-1] == {"type": "image", "source": source}
    assert [block["type"] for block in blocks] == ["tool_result", "tool_result"]


def test_failures_are_marked(registry: ToolRegistry) -> None:
    _, (failed, worked) = converse(registry, [READ_NOTHING, READ_NOTE], "I see.")
    assert failed["is_error"] is True
    assert "nothing.txt" in failed["content"][0]["text"]
    assert "is_error" not in worked


def test_single_calls_and_results_can_be_converted(registry: ToolRegistry) -> None:
    with ConversationServer([READ_NOTE], "Seen.") as server, client_of(server) as client:
        declared = [tool.to_anthropic() for tool in registry.declarations()]
        messages: list[Any] = [{"role": "user", "content": "Go."}]
        asked = client.messages.create(model="claude", max_tokens=1000, messages=messages, tools=declared)
        call = FunctionCall.from_anthropic(asked.content[0])
        messages += [{"role": "assistant", "content": asked.content}, *run(registry, call).to_anthropic(call)]
        client.messages.create(model="claude", max_tokens=1000, messages=messages, tools=declared)
    assert (call.name, call.args) == ("read_file", READ_NOTE.arguments)


def test_names_of_parameters_that_the_service_does_not_take_are_restored() -> None:
    schema = {"type": "object", "properties": {"a path": {"type": "string"}}}
    tool = FunctionDeclaration("odd.tool", "", schema)
    declared = tool.to_anthropic()
    (key,) = declared["input_schema"]["properties"]
    block = {"type": "tool_use", "id": "1", "name": declared["name"], "input": {key: "x"}}
    assert FunctionCall.from_anthropic(block, [tool]) == FunctionCall("odd.tool", {"a path": "x"}, "1")


def test_a_response_alone_is_a_block() -> None:
    block = FunctionResponse("read_file", {"error": "no such file"}, "1").to_anthropic()
    text = {"type": "text", "text": "no such file"}
    assert block == {"type": "tool_result", "tool_use_id": "1", "content": [text], "is_error": True}

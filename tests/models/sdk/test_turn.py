"""The calls of one response are answered together, in their order, whatever is wrong with some of them."""

from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.sdk import SdkName, sdk_format
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.models.sdk.turn import SdkTurn

TOOL = FunctionDeclaration("server.tool", "", {"type": "object"})


def test_a_call_that_cannot_be_read_is_answered_in_its_place() -> None:
    texts = ["{}", '{"path": ', '{"path": "b"}']
    calls = [
        {"id": str(number), "function": {"name": "read_file", "arguments": text}} for number, text in enumerate(texts)
    ]
    turn = SdkTurn(sdk_format("openai"), {"tool_calls": calls}, [])
    assert turn.calls == [FunctionCall("read_file", {}, "0"), FunctionCall("read_file", {"path": "b"}, "2")]
    answers = turn.encode([ToolResult("one"), ToolResult("three")])
    assert [answer["tool_call_id"] for answer in answers] == ["0", "1", "2"]
    assert [answer["content"] for answer in answers] == [
        "one",
        '{"error":"The arguments of read_file are not a JSON object."}',
        "three",
    ]


def test_text_after_the_last_result_belongs_to_it() -> None:
    calls = [{"type": "tool_use", "id": "1", "name": "list", "input": {}}]
    turn = SdkTurn(sdk_format("anthropic"), {"content": calls}, [])
    (message,) = turn.encode([ToolResult(["a", "b"])])
    (block,) = message["content"]
    assert [inner["text"] for inner in block["content"]][1:] == ["a", "b"]


def test_calls_have_the_names_of_the_declared_tools() -> None:
    sent = TOOL.to_openai_responses()["name"]
    item = {"type": "function_call", "call_id": "1", "name": sent, "arguments": ""}
    turn = SdkTurn(sdk_format("openai_responses"), {"output": [item]}, [TOOL])
    assert turn.calls == [FunctionCall("server.tool", {}, "1")]


def test_a_response_without_calls_has_no_answers() -> None:
    assert (
        SdkTurn(sdk_format("gemini"), {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}, []).encode([]) == []
    )
    assert SdkTurn(sdk_format("gemini"), {"candidates": []}, []).encode([]) == []
    assert SdkTurn(sdk_format("anthropic"), {"content": "Hi"}, []).encode([]) == []


class TestResponses:
    """What is no response has no calls either, and a loop would end as if the model had answered."""

    RESPONSES: Mapping[SdkName, tuple[object, ...]] = {
        "gemini": (
            {"candidates": []},
            {"promptFeedback": {"blockReason": "SAFETY"}},
            {"role": "model", "parts": []},
            SimpleNamespace(candidates=None),
        ),
        "openai": (
            {"choices": []},
            {"role": "assistant", "content": "Hi"},
            SimpleNamespace(role="assistant", content=None, tool_calls=None),
        ),
        "openai_responses": ({"output": []}, SimpleNamespace(output=[])),
        "anthropic": (
            {"role": "assistant", "content": "Hi"},
            SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text="Hi")]),
        ),
    }

    @pytest.mark.parametrize("sdk", RESPONSES)
    def test_of_the_sdk_itself(self, sdk: SdkName) -> None:
        for response in self.RESPONSES[sdk]:
            assert SdkTurn(sdk_format(sdk), response, []).encode([]) == []

    @pytest.mark.parametrize("sdk", RESPONSES)
    def test_of_another_sdk(self, sdk: SdkName) -> None:
        others = [each for name in self.RESPONSES if name != sdk for each in self.RESPONSES[name]]
        for response in (None, 5, "text", [], {}, *others):
            if response != {"role": "assistant", "content": "Hi"}:  # has the same form in two SDKs
                with pytest.raises(TypeError, match=r"^The response must be an? .*, not "):
                    SdkTurn(sdk_format(sdk), response, [])

    def test_that_was_not_awaited(self) -> None:
        async def create() -> object:
            return {"choices": []}

        waiting = create()
        with pytest.raises(TypeError, match=r"or its message, not an object of the type coroutine\. Await it first\."):
            SdkTurn(sdk_format("openai"), waiting, [])
        waiting.close()

"""Every shape of a result becomes exactly one FunctionResponse, first, with what cannot travel inside it behind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType
from tejat.core.messages.history import History, model_message, user_message
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    Part,
    PartListUnion,
    Text,
)
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.function_response import build_response

CALL = FunctionCall("read_file", {}, "call-1")
PICTURE = InlineData("image/png", b"\x89PNG")
VIDEO = FileData("video/mp4", "gs://bucket/film.mp4")


def output(text: str) -> FunctionResponse:
    return answer({"output": text})


def answer(response: JsonObject) -> FunctionResponse:
    return FunctionResponse("read_file", response, "call-1")


@pytest.mark.parametrize(
    ("content", "packed"),
    [
        ("hello", (output("hello"),)),
        ("", (output(""),)),
        (Text("hello"), (output("hello"),)),
        (["hello"], (output("hello"),)),
        ([Text("hello")], (output("hello"),)),
        ([], (output("Tool execution succeeded."),)),
        (["a", Text("b")], (output("Tool execution succeeded."), Text("a"), Text("b"))),
        (["a", PICTURE, VIDEO], (output("Tool execution succeeded."), Text("a"), PICTURE, VIDEO)),
        (PICTURE, (output("Binary content of type image/png was processed."), PICTURE)),
        ([VIDEO], (output("Binary content of type video/mp4 was processed."), VIDEO)),
        (InlineData("", b"?"), (output("Binary content of type unknown was processed."), InlineData("", b"?"))),
        (
            FunctionResponse("inner", {"content": [{"text": "a"}, {"other": 1}, {"text": "b"}]}),
            (output("ab"),),
        ),
        (FunctionResponse("inner", {"content": "plain"}), (output("plain"),)),
        (FunctionResponse("inner", {"content": [{"image": 1}]}), (output(""),)),
        (FunctionResponse("inner", {"value": 1}, "other"), (answer({"value": 1}),)),
        ([FunctionResponse("inner", {"content": []})], (answer({"content": []}),)),
        (
            ["a", FunctionResponse("inner", {"content": "ü\ud800"}, "call-1"), PICTURE],
            (
                output("Tool execution succeeded."),
                Text("a"),
                Text('{"functionResponse":{"id":"call-1","name":"inner","response":{"content":"ü\ufffd"}}}'),
                PICTURE,
            ),
        ),
        (
            [FunctionResponse("inner", {"value": float("nan")}), ""],
            (output("Tool execution succeeded."), Text("{'value': nan}"), Text("")),
        ),
    ],
)
def test_content(content: PartListUnion, packed: tuple[Part, ...]) -> None:
    assert build_response(CALL, ToolResult(content)) == packed


SINGLE = (
    st.text()
    | st.sampled_from([Text("a"), PICTURE, VIDEO])
    | st.builds(
        FunctionResponse,
        st.text(),
        st.dictionaries(st.sampled_from(["content", "output"]), st.text() | st.lists(st.integers())),
        st.none() | st.sampled_from(["call-1", "call-2"]),
    )
)


@given(SINGLE | st.lists(SINGLE, max_size=4), SINGLE | st.lists(SINGLE, max_size=4))
@settings(max_examples=200, deadline=None)
def test_whatever_tools_return_the_history_takes_it(first: PartListUnion, second: PartListUnion) -> None:
    calls = (CALL, FunctionCall("glob", {}, "call-2"))
    history = History([user_message("hi")])
    history.add_model(model_message(*calls))
    packed = [build_response(call, ToolResult(content)) for call, content in zip(calls, (first, second), strict=True)]
    history.add_user(user_message(*(part for parts in packed for part in parts)))
    assert history.open_calls == ()


def test_a_call_without_an_id_is_answered_without_one() -> None:
    assert build_response(FunctionCall("glob", {}), ToolResult("x")) == (
        FunctionResponse("glob", {"output": "x"}, None),
    )


@pytest.mark.parametrize(
    ("result", "response"),
    [
        (
            ToolResult("Error: no such file", "shown", ToolError("no such file", ErrorType.FILE_NOT_FOUND)),
            {"error": "no such file"},
        ),
        (ToolResult("cut", "", ToolError("cut", ErrorType.CANCELLED)), {"error": "cut"}),
        (ToolResult("so far", "", ToolError("cut", ErrorType.CANCELLED)), {"error": "cut", "output": "so far"}),
        (ToolResult("so far", "", ToolError("too long", ErrorType.TIMEOUT)), {"error": "too long", "output": "so far"}),
        (
            ToolResult("Stdout: x", "", ToolError("failed", ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR)),
            {"error": "failed", "output": "Stdout: x"},
        ),
        (ToolResult([PICTURE], "", ToolError("cut", ErrorType.CANCELLED)), {"error": "cut"}),
    ],
)
def test_failures(result: ToolResult, response: dict[str, str]) -> None:
    assert build_response(CALL, result) == (FunctionResponse("read_file", response, "call-1"),)


def test_a_response_that_is_no_json_is_told_in_words() -> None:
    call = FunctionCall("measure", {}, "7")
    packed = build_response(call, ToolResult(FunctionResponse("other", {"value": float("nan")})))
    assert packed == (FunctionResponse("measure", {"output": "{'value': nan}"}, "7"),)

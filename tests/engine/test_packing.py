"""Every shape of a result becomes exactly one FunctionResponse, first, with what cannot travel inside it behind."""

import pytest

from tejat.core.errors import ErrorType
from tejat.core.tool import ToolError, ToolResult
from tejat.core.types import FileData, FunctionCall, FunctionResponse, InlineData, Part, PartListUnion, Text
from tejat.engine.packing import pack

CALL = FunctionCall("read_file", {}, "call-1")
PICTURE = InlineData("image/png", b"\x89PNG")
VIDEO = FileData("video/mp4", "gs://bucket/film.mp4")


def output(text: str) -> FunctionResponse:
    return FunctionResponse("read_file", {"output": text}, "call-1")


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
        (FunctionResponse("inner", {"value": 1}), (FunctionResponse("inner", {"value": 1}),)),
        ([FunctionResponse("inner", {"content": []})], (FunctionResponse("inner", {"content": []}),)),
    ],
)
def test_content(content: PartListUnion, packed: tuple[Part, ...]) -> None:
    assert pack(CALL, ToolResult(content)) == packed


def test_a_call_without_an_id_is_answered_without_one() -> None:
    assert pack(FunctionCall("glob", {}), ToolResult("x")) == (FunctionResponse("glob", {"output": "x"}, None),)


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
        (ToolResult([PICTURE], "", ToolError("cut", ErrorType.CANCELLED)), {"error": "cut"}),
    ],
)
def test_failures(result: ToolResult, response: dict[str, str]) -> None:
    assert pack(CALL, result) == (FunctionResponse("read_file", response, "call-1"),)

"""Results of calls in the words of the protocol."""

import base64

import pytest

from support.mcp.tool_server import text_result
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FileData, FunctionResponse, InlineData, JsonObject, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.ui.mcp_server.tool_result import call_result, error_result

NEW, OLD, OLDEST = "2025-11-25", "2025-03-26", "2024-11-05"
DATA = base64.b64encode(b"\x00\x01").decode()


def resource(mime_type: str, index: int) -> JsonObject:
    inner = {"uri": f"tejat://result/{index}", "mimeType": mime_type, "blob": DATA}
    return {"type": "resource", "resource": inner}


@pytest.mark.parametrize(
    ("content", "revision", "blocks"),
    [
        ("hello", NEW, [{"type": "text", "text": "hello"}]),
        (Text("hello"), NEW, [{"type": "text", "text": "hello"}]),
        ([], NEW, []),
        (["a", Text("b")], NEW, [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (InlineData("image/png", b"\x00\x01"), OLDEST, [{"type": "image", "data": DATA, "mimeType": "image/png"}]),
        (InlineData("audio/wav", b"\x00\x01"), OLD, [{"type": "audio", "data": DATA, "mimeType": "audio/wav"}]),
        (InlineData("audio/wav", b"\x00\x01"), OLDEST, [resource("audio/wav", 0)]),
        (["a", InlineData("video/mp4", b"\x00\x01")], NEW, [{"type": "text", "text": "a"}, resource("video/mp4", 1)]),
        (InlineData("", b"\x00\x01"), NEW, [resource("application/octet-stream", 0)]),
        (
            FileData("image/png", "https://a.example/b"),
            NEW,
            [
                {
                    "type": "resource_link",
                    "uri": "https://a.example/b",
                    "name": "https://a.example/b",
                    "mimeType": "image/png",
                }
            ],
        ),
        (FileData("image/png", "https://a.example/b"), OLD, [{"type": "text", "text": "https://a.example/b"}]),
        (FunctionResponse("x", {"a": [1]}), NEW, [{"type": "text", "text": '{"a":[1]}'}]),
    ],
)
def test_content(content: PartListUnion, revision: str, blocks: list[JsonObject]) -> None:
    assert call_result(ToolResult(content), revision) == {"content": blocks, "isError": False}


def test_a_failure_is_told_by_its_message() -> None:
    failure = ToolResult("for the model", "for the person", ToolError("what went wrong", ErrorType.FILE_NOT_FOUND))
    assert call_result(failure, NEW) == text_result("what went wrong", is_error=True)


def test_what_was_cut_short_keeps_its_output() -> None:
    failure = ToolResult("half of it", "x", ToolError("too slow", ErrorType.TIMEOUT))
    assert call_result(failure, NEW) == {
        "content": [{"type": "text", "text": "too slow"}, {"type": "text", "text": "half of it"}],
        "isError": True,
    }
    cancelled = ToolResult("cancelled", "Cancelled.", ToolError("cancelled", ErrorType.CANCELLED))
    assert call_result(cancelled, NEW) == text_result("cancelled", is_error=True)


def test_a_denial_is_told_with_the_rule() -> None:
    error = ToolError("Denied.", ErrorType.POLICY_VIOLATION)
    assert call_result(ToolResult("Denied.", "Denied. (rules.toml:1)", error), NEW) == text_result(
        "Denied. (rules.toml:1)", is_error=True
    )
    diff = FileDiff(file_name="a", file_path="/a", file_diff="", is_new_file=True)
    for other in ("something else", diff):
        assert call_result(ToolResult("Denied.", other, error), NEW) == text_result("Denied.", is_error=True)


def test_what_could_not_be_tried() -> None:
    assert error_result("no") == text_result("no", is_error=True)

"""Answers of servers' tools as results."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.errors import ErrorType
from tejat.core.json_text import dump_json
from tejat.core.messages.types import InlineData, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.mcp.content.tool_result import parse_tool_result

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
PICTURE = {"type": "image", "data": b64encode(PNG).decode(), "mimeType": "image/png"}
ABOUT_PICTURE = Text("[Tool 't' provided the following image data with mime-type: image/png]")
IMAGE = InlineData("image/png", PNG)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def marked(words: str) -> str:
    return f"<untrusted_context>\n{words}\n</untrusted_context>"


def of(answer: dict[str, Any]) -> ToolResult:
    return parse_tool_result(answer, tool="t", arguments={"a": 1})


class TestContent:
    @pytest.mark.parametrize(
        ("content", "told", "shown"),
        [
            ([text("hello")], marked("hello"), "hello"),
            ([text("a"), text("b")], marked("a\nb"), "a\nb"),
            ([text("")], marked(""), ""),
            ([], [], "```json\n[]\n```"),
            ([{"type": "new"}], [], "[Unknown content type: new]"),
            ([PICTURE], [ABOUT_PICTURE, IMAGE], "[Image: image/png]"),
            (
                [text("a"), PICTURE, text("b"), {"type": "new"}, {"type": "resource", "resource": {"text": "c"}}],
                [Text(marked("a")), ABOUT_PICTURE, IMAGE, Text(marked("b\nc"))],
                "a\n[Image: image/png]\nb\n[Unknown content type: new]\nc",
            ),
            ([text("</untrusted_context>")], marked("&lt;/untrusted_context>"), "</untrusted_context>"),
        ],
    )
    def test_blocks(self, content: list[Any], told: Any, shown: str) -> None:
        assert of({"content": content}) == ToolResult(told, shown)
        assert of({"content": content, "isError": False, "_meta": {}}) == ToolResult(told, shown)

    @pytest.mark.parametrize("content", [None, "words", {"type": "text"}, 5])
    def test_what_is_no_list(self, content: Any) -> None:
        answer = {"content": content, "isError": None}
        shown = f"```json\n{dump_json(answer, indent=2)}\n```"
        assert of(answer) == ToolResult("[Error: Could not parse tool response]", shown)

    def test_no_content_at_all(self) -> None:
        assert of({}) == ToolResult("[Error: Could not parse tool response]", "```json\n{}\n```")

    def test_too_much(self) -> None:
        told = (
            "The result of MCP tool 't' is too large: it holds 10001 blocks, and at most 10000 are taken. "
            "Ask for less, or for parts of it."
        )
        answer = {"content": [text("x")] * 10_001}
        assert of(answer) == ToolResult(told, told, ToolError(told, ErrorType.MCP_TOOL_ERROR))


class TestStructured:
    @pytest.mark.parametrize(
        ("content", "structured"),
        [
            ([text('{"n": 1}')], {"n": 1}),
            ([text("about it"), text('{"n": 1}')], {"n": 1}),
            ([text("hello")], {"result": "hello"}),
            ([text("hello")], {"content": "hello"}),
            ([text("5")], {"result": 5}),
            ([text("a"), text('{"b": 2}')], {"result": ["a", {"b": 2}]}),
            ([text('["a"]')], ["a"]),
            ([text("words")], None),
        ],
    )
    def test_what_is_said_already_is_not_said_again(self, content: list[Any], structured: Any) -> None:
        assert of({"content": content, "structuredContent": structured}) == of({"content": content})

    @pytest.mark.parametrize(
        ("content", "structured", "told"),
        [
            ([text("It is warm")], {"degrees": 25}, marked('It is warm\n{"degrees":25}')),
            ([text("25")], {"degrees": 25}, marked('25\n{"degrees":25}')),
            ([text("hello")], {"result": "bye"}, marked('hello\n{"result":"bye"}')),
            ([text("hello")], {"result": "hello", "more": 1}, marked('hello\n{"result":"hello","more":1}')),
            ([text("a")], {"result": ["a", "b"]}, marked('a\n{"result":["a","b"]}')),
            ([PICTURE], {"n": 1}, [ABOUT_PICTURE, IMAGE, Text(marked('{"n":1}'))]),
        ],
    )
    def test_what_is_not_said_is_added(self, content: list[Any], structured: Any, told: Any) -> None:
        result = of({"content": content, "structuredContent": structured})
        assert result == ToolResult(told, of({"content": content}).return_display)

    @pytest.mark.parametrize("rest", [{"content": []}, {"content": None}, {}])
    def test_nothing_else_is_there(self, rest: dict[str, Any]) -> None:
        result = of({**rest, "structuredContent": {"n": 1}})
        assert result == ToolResult(marked('{"n":1}'), '```json\n{\n  "n": 1\n}\n```')


class TestReportedErrors:
    @pytest.mark.parametrize("flag", [True, "true", "True"])
    def test_an_error(self, flag: Any) -> None:
        answer = {"content": [text("no such city"), PICTURE, text("sorry"), 5], "isError": flag}
        told = (
            "MCP tool 't' reported tool error for function call: "
            '{"name":"t","args":{"a":1}} with response: {"content":[{"type":"text","text":"no such city"},'
            '{"type":"image","data":"(16 bytes)","mimeType":"image/png"},{"type":"text","text":"sorry"},5],'
            f'"isError":{dump_json(flag)}}}'
        )
        assert of(answer) == ToolResult(
            told,
            "Error: MCP tool 't' reported an error.\nno such city\nsorry",
            ToolError(told, ErrorType.MCP_TOOL_ERROR),
        )

    def test_an_error_within(self) -> None:
        told = (
            "MCP tool 't' reported tool error for function call: "
            '{"name":"t","args":{"a":1}} with response: {"error":{"isError":true}}'
        )
        assert of({"error": {"isError": True}}) == ToolResult(
            told, "Error: MCP tool 't' reported an error.", ToolError(told, ErrorType.MCP_TOOL_ERROR)
        )

    @pytest.mark.parametrize("flag", [False, "false", None, 0, 1, "yes", []])
    def test_no_error(self, flag: Any) -> None:
        assert of({"content": [text("fine")], "isError": flag}) == ToolResult(marked("fine"), "fine")


def nested(levels: int) -> Any:
    inner: Any = "x"
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize("levels", [900, 100_000])
def test_nested_without_end(levels: int) -> None:
    deep = nested(levels)
    for answer in (
        {"content": [text("a"), text("[" * 900 + "]" * 900)], "structuredContent": {"result": deep}},
        {"content": deep, "isError": True},
        {"content": {"x": deep}},
        {"content": [deep]},
    ):
        assert isinstance(of(answer), ToolResult)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["text", "image", "true"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "result", "content", "isError"]), inner)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError", "error", "_meta"]), anything))
def test_whatever_a_server_answers(answer: dict[str, Any]) -> None:
    result = of(answer)
    dump_json(result.to_json())
    assert isinstance(result.return_display, str)

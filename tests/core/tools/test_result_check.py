"""What tools may return."""

import asyncio

import pytest

from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionResponse, InlineData, Params, PartListUnion, Text
from tejat.core.tools.base import BaseTool, ToolContext, ToolError, ToolResult, validate_and_execute
from tejat.core.tools.display import FileDiff
from tejat.core.tools.result_check import checked_result, is_content
from tejat.core.tools.todos import TodoList

IMAGE = InlineData("image/png", b"x")


class Returning(BaseTool):
    """Returns what it was given, whatever its type."""

    def __init__(self, returned: object) -> None:
        super().__init__(name="returning", description="", parameter_schema={"type": "object"})
        self._returned = returned

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return self._returned  # pyright: ignore[reportReturnType]


def run(returned: object) -> ToolResult:
    return asyncio.run(validate_and_execute(Returning(returned), {}))


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("text"),
        ToolResult(IMAGE, "An image"),
        ToolResult([]),
        ToolResult(("text", IMAGE, Text("more"))),
        ToolResult("text", FileDiff("a", "/a", "+a", is_new_file=True)),
        ToolResult("text", TodoList(())),
        ToolResult("", "", ToolError("failed", ErrorType.EXECUTION_FAILED)),
    ],
)
def test_a_result_is_left_as_it_is(result: ToolResult) -> None:
    assert run(result) is result


@pytest.mark.parametrize("content", [IMAGE, Text("text"), ["text", IMAGE], (IMAGE,), []])
def test_parts_become_the_content(content: PartListUnion) -> None:
    assert run(content) == ToolResult(content)


def test_text_becomes_content_and_display() -> None:
    assert run("hello") == ToolResult("hello", "hello")


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, 'Tool "returning" returned NoneType instead of a ToolResult.'),
        (5, 'Tool "returning" returned int instead of a ToolResult.'),
        ({"output": "x"}, 'Tool "returning" returned dict instead of a ToolResult.'),
        (["a", 5, None], 'Tool "returning" returned list of NoneType, int, str instead of a ToolResult.'),
        (ToolResult(None), 'Tool "returning" returned an llm_content of type NoneType.'),  # pyright: ignore[reportArgumentType]
        (ToolResult([5]), 'Tool "returning" returned an llm_content of type list of int.'),  # pyright: ignore[reportArgumentType]
        (ToolResult("a", None), 'Tool "returning" returned a return_display of type NoneType.'),  # pyright: ignore[reportArgumentType]
        (
            ToolResult("a", error="no"),  # pyright: ignore[reportArgumentType]
            "Tool \"returning\" returned a wrong value: ToolResult.error must be a ToolError or None, not 'no'.",
        ),
        (
            ToolResult(FunctionResponse("a", None)),  # pyright: ignore[reportArgumentType]
            'Tool "returning" returned a wrong value: FunctionResponse.response must be a JSON object, not None.',
        ),
        (
            InlineData("image/png", "text"),  # pyright: ignore[reportArgumentType]
            "Tool \"returning\" returned a wrong value: InlineData.data must be bytes, not 'text'.",
        ),
        (ToolResult("a", ["a"]), 'Tool "returning" returned a return_display of type list of str.'),  # pyright: ignore[reportArgumentType]
    ],
)
def test_anything_else_is_an_error_that_names_the_tool(returned: object, reason: str) -> None:
    with pytest.raises(TypeError) as raised:
        checked_result("returning", returned)
    assert str(raised.value) == reason
    result = run(returned)
    assert result.error == ToolError(reason, ErrorType.EXECUTION_FAILED)
    assert result.llm_content == f"Error: Tool call execution failed. Reason: {reason}"


@pytest.mark.parametrize(("given", "answer"), [("text", True), (IMAGE, True), ([IMAGE, "a"], True), ({"a"}, False)])
def test_content(given: object, answer: bool) -> None:
    assert is_content(given) is answer

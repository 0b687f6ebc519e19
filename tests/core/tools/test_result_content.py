"""Results as collections of what the model gets."""

from tejat.core.messages.types import FunctionResponse, InlineData, Text
from tejat.core.tools.base import ToolResult

PICTURE = InlineData("image/png", b"x")


def test_a_text_is_one_part() -> None:
    result = ToolResult("some text")
    assert (len(result), list(result), result.text) == (1, ["some text"], "some text")
    assert "me te" in result
    assert "other" not in result


def test_a_part_is_one_part() -> None:
    result = ToolResult(PICTURE)
    assert (len(result), list(result), result.text) == (1, [PICTURE], "")
    assert PICTURE in result


def test_several_parts() -> None:
    result = ToolResult(["a", PICTURE, Text("b"), FunctionResponse("x", {"output": "c"})])
    assert (len(result), result.text) == (4, "ab")
    assert "ab" in result
    assert PICTURE in result
    assert Text("b") in result
    assert InlineData("image/png", b"y") not in result
    assert 5 not in result


def test_a_result_is_true_even_if_it_is_empty() -> None:
    assert ToolResult([])
    assert len(ToolResult([])) == 0

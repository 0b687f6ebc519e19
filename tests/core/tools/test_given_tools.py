"""Tools as a program gives them."""

from typing import Any

import pytest

from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.core.tools.given_tools import list_tools


class Plain(BaseTool):
    def __init__(self, name: str = "plain") -> None:
        super().__init__(name=name, description="Does nothing.", parameter_schema={})

    async def execute(self, params: Any, context: ToolContext) -> ToolResult:
        return ToolResult("")


def test_one_or_several() -> None:
    one, other = Plain(), Plain("other")
    assert list_tools(one) == (one,)
    assert list_tools(each for each in (one, other)) == (one, other)


def test_a_tool_shows_its_name() -> None:
    assert repr(Plain()) == "<Plain 'plain'>"


@pytest.mark.parametrize("given", ["plain", 3, None, Plain, {"plain": Plain()}])
def test_what_is_no_tool(given: Any) -> None:
    with pytest.raises(TypeError, match="tools must be a tool or several tools, not"):
        list_tools(given)


@pytest.mark.parametrize("given", [Plain("two words"), [Plain("two words")]])
def test_each_is_checked(given: Any) -> None:
    with pytest.raises(ValueError, match="is not a valid tool name"):
        list_tools(given)

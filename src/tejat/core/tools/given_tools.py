"""Tools as a program gives them: one or several."""

from collections.abc import Iterable, Mapping
from typing import cast

from tejat.core.tools.base import BaseTool
from tejat.core.tools.tool_check import check_tool


def list_tools(given: BaseTool | Iterable[BaseTool]) -> tuple[BaseTool, ...]:
    """The tools. Raises TypeError and ValueError as `check_tool` does."""
    if isinstance(given, BaseTool):
        return (check_tool(given),)
    if isinstance(cast("object", given), str | Mapping | type) or not isinstance(cast("object", given), Iterable):
        raise TypeError(f"tools must be a tool or several tools, not {given!r}. A function becomes one with `@tool`.")
    return tuple(map(check_tool, given))

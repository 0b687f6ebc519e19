"""Arguments are parsed once for each call, as they are."""

import asyncio
from typing import Annotated

import pytest

from tejat.core.errors import ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Arguments, Param, as_arguments


class WordParams(Frozen):
    word: Annotated[str, Param("A word.", aliases=("text",))]


class WordTool(TypedTool[WordParams]):
    def __init__(self) -> None:
        super().__init__(name="word", display_name="Word", description="", parameters=WordParams, kind=Kind.READ)
        self.checked = 0

    def check(self, params: WordParams) -> None:
        self.checked += 1

    def describe(self, params: WordParams) -> str:
        return params.word

    def locations(self, params: WordParams) -> list[ToolLocation]:
        return [ToolLocation(params.word)]

    async def run(self, params: WordParams, context: ToolContext) -> ToolResult:
        return ToolResult(params.word)


def use(tool: WordTool, arguments: dict[str, object]) -> str:
    assert tool.rejection(arguments) is None
    assert tool.tool_locations(arguments) == [ToolLocation(tool.get_description(arguments))]
    return str(asyncio.run(tool.execute(arguments, ToolContext())).llm_content)


def test_the_arguments_of_a_call_are_parsed_once() -> None:
    tool = WordTool()
    assert use(tool, Arguments(word="a")) == "a"
    assert tool.checked == 1


def test_a_plain_dict_is_parsed_each_time() -> None:
    tool = WordTool()
    assert use(tool, {"word": "a"}) == "a"
    assert tool.checked == 4


def test_changed_arguments_are_parsed_again() -> None:
    tool, arguments = WordTool(), Arguments(word="a")
    assert use(tool, arguments) == "a"
    arguments["word"] = "b"
    assert use(tool, arguments) == "b"
    arguments["word"] = 1
    with pytest.raises(ToolFailure):
        tool.parse(arguments)


def test_each_tool_parses_for_itself() -> None:
    arguments, tools = Arguments(word="a"), [WordTool(), WordTool()]
    assert [use(tool, arguments) for tool in tools] == ["a", "a"]
    assert [tool.checked for tool in tools] == [1, 1]


def test_a_copy_is_what_it_was_made_of() -> None:
    given = {"word": ["a"]}
    copied = as_arguments(given)
    assert (copied, type(copied)) == (given, Arguments)
    given["word"] = []
    assert copied == {"word": ["a"]}


def test_anything_but_a_dict_is_left_to_the_tool() -> None:
    given: list[str] = []
    assert as_arguments(given) is given  # pyright: ignore[reportArgumentType]

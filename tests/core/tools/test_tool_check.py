"""Tools of other authors are checked when they are registered, not when they are called."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import BaseTool, ParsingTool, ProposingTool, ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.core.tools.tool_check import check_tool
from tejat.tools.registry import ToolRegistry


@dataclass(frozen=True)
class NoteParams:
    text: Annotated[str, Param("What to note.")] = ""


class Plain(BaseTool):
    def __init__(self, **changes: Any) -> None:
        given: dict[str, Any] = {
            "name": "plain",
            "description": "Does nothing.",
            "parameter_schema": {"type": "object"},
            **changes,
        }
        super().__init__(**given)

    async def execute(self, params: Any, context: ToolContext) -> ToolResult:
        return ToolResult("")

    def run(self) -> None:
        """Its own affair, as it is not a TypedTool."""


class Note(TypedTool[NoteParams]):
    def __init__(self) -> None:
        super().__init__(name="note", display_name="Note", description="Notes.", parameters=NoteParams, kind=Kind.OTHER)

    def describe(self, params: NoteParams) -> str:
        return params.text

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        return ToolResult(params.text)


def passed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


class Wrapped(Plain):
    @passed_on
    async def execute(self, params: Any, context: ToolContext) -> ToolResult:
        return ToolResult("")


@pytest.mark.parametrize("tool", [Plain(), Plain(parameter_schema={}), Note(), Wrapped()])
def test_what_keeps_the_contract_is_given_back(tool: BaseTool) -> None:
    assert check_tool(tool) is tool


def test_a_label_for_messages_is_the_name() -> None:
    assert Note().get_description({"text": 3}) == "Model did not provide valid parameters for note tool"


class NoSuper(Plain):
    def __init__(self) -> None:
        self.name = "mine"


class SyncExecute(Plain):
    def execute(self, params: Any, context: ToolContext) -> ToolResult:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ToolResult("")


class NoContext(Plain):
    async def execute(self, params: Any) -> ToolResult:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ToolResult("")


class AsyncDescription(Plain):
    async def get_description(self, params: Any) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ""


class AsyncDescribe(Note):
    async def describe(self, params: NoteParams) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ""


class SyncRun(Note):
    def run(self, params: NoteParams, context: ToolContext) -> ToolResult:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ToolResult("")


class SyncProposal(Note, ProposingTool[NoteParams]):
    def propose(self, params: NoteParams) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]


class AsyncParse(ParsingTool, Plain):
    async def parse(self, params: object) -> object:
        return params


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        (len, "<built-in function len> is not a tool. A function becomes one with `@tool`."),
        (Plain, "Plain is a class. Pass a tool, for example Plain()."),
        (NoSuper(), "NoSuper has no 'display_name'. Call `super().__init__(...)` in its constructor."),
        (Plain(description=None), "Plain.description must be a str, not None"),
        (Plain(kind="read"), "Plain.kind must be a Kind, not 'read'"),
        (Plain(parameter_schema=[]), "Plain.parameter_schema must be a Mapping, not []"),
        (
            Plain(parameter_schema={"type": "string"}),
            "Plain.parameter_schema must be the JSON Schema of an object, not of 'string'",
        ),
        (
            Plain(parameter_schema={"default": {1}}),
            "Plain.parameter_schema cannot be written as JSON: Object of type set is not JSON serializable",
        ),
        (SyncExecute(), "SyncExecute.execute must be `async def`"),
        (SyncRun(), "SyncRun.run must be `async def`"),
        (SyncProposal(), "SyncProposal.propose must be `async def`"),
        (AsyncDescription(), "AsyncDescription.get_description must not be `async def`"),
        (AsyncDescribe(), "AsyncDescribe.describe must not be `async def`"),
        (AsyncParse(), "AsyncParse.parse must not be `async def`"),
        (
            NoContext(),
            "NoContext.execute must take the parameters and the context: `execute(self, params, context)`",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseTool) else None,
)
def test_what_breaks_it_is_refused_in_words(tool: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        ToolRegistry().register(tool)
    assert str(caught.value) == problem


@pytest.mark.parametrize("name", ["", "two words", "9lives", "ü", "x" * 65, "a\n"])
def test_names_that_no_model_can_use(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid tool name: use letters, digits, '_' and '-', at most 64"):
        ToolRegistry().register(Plain(name=name))

"""The tables of the tool contract: every Python name in them exists, and the flow that they describe works."""

import asyncio
import re
from pathlib import Path

import pytest

import tejat
from support.source_tree import ROOT
from tejat import (
    ApprovalRequest,
    BaseTool,
    FunctionCall,
    FunctionResponse,
    InfoConfirmation,
    InlineData,
    ToolContext,
    ToolRegistry,
    ToolResult,
    Toolset,
    builtin_registry,
    open_tools,
)
from tejat.core.approval.confirmation import Confirmation
from tejat.core.messages.types import Params

PAGE = (ROOT / "docs" / "python" / "contract.md").read_text(encoding="utf-8")
ROWS = [tuple(map(str.strip, row.strip("|").split(" | "))) for row in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)]
NAMES = [row[1].strip("`") for row in ROWS if row[1] not in ("Python", "---")]

DOCUMENTED = """
BaseTool name displayName description parameterSchema validateToolParams() getDescription() shouldConfirmExecute()
execute(params, signal) ToolResult llmContent PartListUnion returnDisplay FileDiff ToolRegistry registerTool() getTool()
getAllTools() getFunctionDeclarations() discoverAllTools() DiscoveredTool DiscoveredMCPTool LSTool ReadFileTool
WriteFileTool GrepTool GlobTool EditTool ReadManyFilesTool ShellTool WebFetchTool WebSearchTool MemoryTool
""".replace("(params, signal)", "").split()


class Ask(BaseTool):
    """A tool with every member of the contract."""

    def __init__(self) -> None:
        super().__init__(
            name="ask",
            display_name="Ask",
            description="Asks.",
            parameter_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        )

    def get_description(self, params: Params) -> str:
        return f"Asking {params['text']}"

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return InfoConfirmation("Ask?", self.get_description(params))

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        assert isinstance(context.approved, InfoConfirmation)
        return ToolResult([str(params["text"]), InlineData("image/png", b"x")], "**asked**")


def test_the_tables_have_every_documented_member() -> None:
    first = {row[0].strip("`").partition("(")[0] for row in ROWS}
    assert {name.partition("(")[0] for name in DOCUMENTED} <= first
    steps = [row[0] for row in ROWS if row[0][0].isdigit()]
    assert [step.partition(".")[0] for step in steps] == list("123456789")


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_every_python_name_exists(name: str) -> None:
    public, _, member = name.partition(".")
    found = getattr(tejat, public)
    fields = {*dir(found), *getattr(found, "__match_args__", ())} if isinstance(found, type) else set[str]()
    assert not member or member in fields | (set(dir(Ask())) if found is BaseTool else set())


def test_the_built_in_tools_have_these_classes(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row[0] == row[1] and re.fullmatch(r"`[a-z_]+`", row[2])]
    assert len(rows) == 11
    with open_tools(tmp_path) as tools:
        for row in rows:
            tool = tools.registry.get(row[2].strip("`"))
            assert type(tool) is getattr(tejat, row[1].strip("`"))


def test_the_members_of_a_tool() -> None:
    tool = Ask()
    assert (tool.name, tool.display_name, tool.description) == ("ask", "Ask", "Asks.")
    assert tool.schema.parameters_json_schema is tool.parameter_schema
    assert tool.validate_tool_params({"text": "a"}) is None
    assert tool.validate_tool_params({}) == "params must have required property 'text'"
    assert tool.get_description({"text": "a"}) == "Asking a"


def test_the_members_of_the_registry(tmp_path: Path) -> None:
    registry, tool = ToolRegistry(), Ask()
    registry.register(tool)
    assert (registry.get("ask"), registry["ask"], registry.get("other")) == (tool, tool, None)
    assert (registry.all_tools(), registry.names(), registry.tools_by_server("far")) == ([tool], ["ask"], [])
    assert registry.declarations() == registry.declarations_for("ask") == [tool.schema]
    registry.unregister("ask")
    assert len(registry) == 0
    with tejat.Workspace(tmp_path) as workspace:
        assert len(builtin_registry(workspace)) == 7


def test_the_flow_of_a_call(tmp_path: Path) -> None:
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return True

    async def main(tools: Toolset) -> None:
        (finished,) = await tools.call_many([FunctionCall("ask", {"text": "a"}, "1")])
        assert [question.confirmation.title for question in asked] == ["Ask?"]
        response = FunctionResponse("ask", {"output": "Tool execution succeeded."}, "1")
        assert finished.function_response == response
        assert finished.response == (response, tejat.Text("a"), InlineData("image/png", b"x"))
        assert finished.result.return_display == "**asked**"

    with open_tools(tmp_path, approve, tools=Ask()) as tools:
        asyncio.run(main(tools))

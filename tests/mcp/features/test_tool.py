"""Tools of servers: what the model is told, what the person is asked, what a call comes to."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.mcp.clients import SECONDS, RecordingClient, open_supervisor, python_plan
from support.mcp.fake_server import FakeServer
from tejat.core.approval.confirmation import InfoConfirmation, McpConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import InlineData, Text
from tejat.core.tools.base import ToolContext, ToolError, ToolResult, execute_safely, validate_and_execute
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.tool import MAX_DESCRIPTION_LENGTH, DiscoveredMCPTool, DiscoveredMcpTools, build_mcp_tools
from tejat.mcp.features.tool_pins import ToolPins
from tejat.mcp.types import McpProgress, ServerState, ServerTool, ToolAnnotations

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"city": {"type": "string", "format": "city"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = ServerTool("get weather", "Tells the weather.", None, SCHEMA)


def tool_of(
    declared: ServerTool = WEATHER, server: FakeServer | None = None, pins: ToolPins | None = None
) -> DiscoveredMCPTool:
    found = build_mcp_tools(server or FakeServer(), [declared], pins=pins)
    assert found.problems == ()
    return found.tools[0]


def marked(words: str) -> str:
    return f"<untrusted_context>\n{words}\n</untrusted_context>"


class TestDiscovery:
    def test_in_the_order_of_the_server(self) -> None:
        tools = [ServerTool(name) for name in ("b", "a", "c")]
        found = build_mcp_tools(FakeServer(), tools)
        assert [tool.name for tool in found.tools] == ["srv__b", "srv__a", "srv__c"]
        assert build_mcp_tools(FakeServer(), []) == DiscoveredMcpTools(())

    @pytest.mark.parametrize("is_elsewhere", [True, False])
    def test_what_runs_on_another_machine_changes_no_file_here(self, is_elsewhere: bool) -> None:
        found = build_mcp_tools(FakeServer(), [WEATHER], is_on_other_host=is_elsewhere)
        assert [tool.may_change_files for tool in found.tools] == [not is_elsewhere]
        assert build_mcp_tools(FakeServer(), [WEATHER]).tools[0].may_change_files

    def test_as_the_settings_say(self) -> None:
        tools = [ServerTool(name) for name in ("a", "b", "c")]
        found = build_mcp_tools(FakeServer(), tools, include=["a(x)", "b"], exclude=["b"])
        assert [tool.own_name for tool in found.tools] == ["a"]

    def test_what_cannot_be_used_is_named_and_stops_nothing_else(self) -> None:
        deep: Any = {}
        for _ in range(100_000):
            deep = {"a": deep}
        tools = [
            ServerTool("x y"),
            ServerTool("fine"),
            ServerTool("x_y"),
            ServerTool("hid\u200bden"),
            ServerTool("odd", input_schema={"type": "object", "properties": {"\u200b": {}}}),
            ServerTool("deep", output_schema=deep),
        ]
        found = build_mcp_tools(FakeServer(), tools)
        assert [tool.name for tool in found.tools] == ["srv__fine"]
        assert found.problems == (
            'Skipped a tool of MCP server srv: its name "hid<U+200B>den" contains invisible characters.',
            'Skipped tools of MCP server srv: "x y", "x_y" would all be named srv__x_y.',
            'Skipped tool srv__odd: its parameters cannot be sent to a model: a parameter is named "<U+200B>".',
            "The tool srv__deep was left out, because of what it declares: nested too deeply.",
        )

    def test_a_tool_that_is_called_like_one_of_ours(self) -> None:
        found = build_mcp_tools(FakeServer(), [ServerTool("read_file"), ServerTool("run_shell_command")])
        assert [tool.name for tool in found.tools] == ["srv__read_file", "srv__run_shell_command"]


class TestDeclaration:
    def test_what_the_model_is_told(self) -> None:
        tool = tool_of()
        assert tool.schema == FunctionDeclaration(
            "srv__get_weather",
            "From MCP server srv: Tells the weather.",
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        )
        assert (tool.display_name, tool.server_name, tool.own_name) == (
            "get weather (srv MCP Server)",
            "srv",
            "get weather",
        )
        assert (tool.can_update_output, tool.is_output_markdown, tool.limits_own_output) == (True, False, False)

    @pytest.mark.parametrize(
        ("declared", "description"),
        [
            (ServerTool("t", "", "A title"), "From MCP server srv: A title"),
            (ServerTool("t"), "From MCP server srv: it says nothing about this tool."),
            (ServerTool("t", "a\u200b\U000e0041b"), "From MCP server srv: ab"),
            (
                ServerTool("t", "x" * 9000),
                "From MCP server srv: " + "x" * (MAX_DESCRIPTION_LENGTH - 6) + " [...]",
            ),
        ],
    )
    def test_descriptions(self, declared: ServerTool, description: str) -> None:
        assert tool_of(declared).description == description

    @pytest.mark.parametrize("read_only", [True, False, None])
    def test_annotations_make_nothing_milder(self, read_only: bool | None) -> None:
        tool = tool_of(replace(WEATHER, annotations=ToolAnnotations(read_only=read_only, destructive=False)))
        assert (tool.kind, tool.is_read_only) == (Kind.OTHER, False)

    def test_rules_see_the_annotations_that_were_given(self) -> None:
        assert tool_of(WEATHER).hints == {}
        marks = ToolAnnotations(title="W", read_only=True, destructive=False, idempotent=True, open_world=False)
        assert tool_of(replace(WEATHER, annotations=marks)).hints == {
            "title": "W",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }

    def test_arguments_are_checked_against_what_the_server_declared(self) -> None:
        tool = tool_of()
        assert tool.validate_tool_params({"city": "Oslo"}) is None
        assert tool.validate_tool_params({}) == "params must have required property 'city'"
        extra = tool.validate_tool_params({"city": "Oslo", "x": 1})
        assert extra is not None
        assert extra.startswith("params: ")
        assert tool.validate_tool_params([]) == "Value of params must be an object"

    @pytest.mark.parametrize("schema", [None, {"type": "nonsense"}, {"$ref": "https://example.com/x"}])
    def test_a_schema_that_cannot_be_compiled_checks_nothing(self, schema: Any) -> None:
        assert tool_of(ServerTool("t", input_schema=schema)).validate_tool_params({"a": 1}) is None


class TestQuestion:
    def test_what_the_person_is_shown(self) -> None:
        declared = replace(
            WEATHER,
            description="Hid\u200bden",
            annotations=ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=True),
        )
        confirmation = asyncio.run(tool_of(declared).should_confirm_execute({"city": "Oslo"}))
        assert isinstance(confirmation, McpConfirmation)
        assert replace(confirmation, digest="") == McpConfirmation(
            title="Confirm MCP Tool Execution",
            server_name="srv",
            tool_name="get weather",
            tool_display_name="get weather (srv MCP Server)",
            tool_args={"city": "Oslo"},
            tool_description=(
                "Hid\u200bden\n\nThe server says (nobody has checked it): it only reads, it destroys nothing, "
                "doing it twice is as doing it once, it reaches out to the world."
            ),
            tool_parameter_schema={
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        )

    @pytest.mark.parametrize(
        ("annotations", "told"),
        [
            (ToolAnnotations(), None),
            (
                ToolAnnotations(read_only=False, destructive=True),
                "The server says (nobody has checked it): it changes something, it may destroy something.",
            ),
        ],
    )
    def test_a_tool_without_a_description(self, annotations: ToolAnnotations, told: str | None) -> None:
        confirmation = asyncio.run(tool_of(ServerTool("t", annotations=annotations)).should_confirm_execute({}))
        assert isinstance(confirmation, McpConfirmation)
        assert confirmation.tool_description == told

    def test_only_what_was_agreed_to_runs(self) -> None:
        server = FakeServer(answer={"content": []})
        tool = tool_of(server=server)
        confirmation = asyncio.run(tool.should_confirm_execute({"city": "Oslo"}))
        context = ToolContext(approved=confirmation)
        told = "This is not the call the user approved: the tool or its arguments changed."
        refused = ToolResult(told, told, ToolError(told, ErrorType.EXECUTION_FAILED))
        assert asyncio.run(execute_safely(tool, {"city": "Rome"}, context)) == refused
        changed = tool_of(replace(WEATHER, description="Sells the weather."), server)
        assert asyncio.run(execute_safely(changed, {"city": "Oslo"}, context)) == refused
        assert server.requests == []
        assert asyncio.run(execute_safely(tool, {"city": "Oslo"}, context)).error is None
        other = ToolContext(approved=InfoConfirmation("t", "p"))
        assert asyncio.run(execute_safely(tool, {"city": "Rome"}, other)).error is None


class TestPinned:
    def test_a_tool_that_changed_asks_until_it_is_allowed(self, tmp_path: Path) -> None:
        pins = ToolPins(str(tmp_path / "pins.json"))
        first = tool_of(pins=pins)
        assert not first.has_changed
        first.on_allowed()
        assert not tool_of(pins=pins).has_changed
        declared = replace(WEATHER, description="Sells the weather.")
        changed = tool_of(declared, pins=ToolPins(str(tmp_path / "pins.json")))
        assert changed.has_changed
        assert changed.has_changed
        changed.on_allowed()
        assert not changed.has_changed
        later = ToolPins(str(tmp_path / "pins.json"))
        assert (tool_of(declared, pins=later).has_changed, tool_of(pins=later).has_changed) == (False, True)

    def test_without_pins_nothing_is_remembered(self) -> None:
        tool = tool_of()
        tool.on_allowed()
        assert not tool.has_changed


class TestExecution:
    def test_the_server_knows_it_by_its_own_name(self) -> None:
        server = FakeServer(answer={"content": [{"type": "text", "text": "warm"}]})
        result = asyncio.run(validate_and_execute(tool_of(server=server), {"city": "Oslo"}))
        assert result == ToolResult(marked("warm"), "warm")
        assert server.requests == [("call", "get weather", {"city": "Oslo"})]

    def test_wrong_arguments_never_reach_the_server(self) -> None:
        server = FakeServer()
        result = asyncio.run(validate_and_execute(tool_of(server=server), {"city": 5}))
        assert result.error == ToolError("params/city must be string", ErrorType.INVALID_TOOL_PARAMS)
        assert server.requests == []

    @pytest.mark.parametrize(
        ("problem", "code", "advice"),
        [
            (
                McpProblem.CONFIGURATION,
                None,
                "Trying again will not help: the user has to correct the settings of the server.",
            ),
            (
                McpProblem.START,
                None,
                "The server cannot be reached. Do without it unless the user says that it is back.",
            ),
            (
                McpProblem.CLOSED,
                None,
                "Where it matters, find out first whether it was done. Then it may be tried once more.",
            ),
            (
                McpProblem.TIMED_OUT,
                None,
                (
                    "The server was told to stop, but may have done part of it: find out first where that matters. "
                    "A smaller call may be tried."
                ),
            ),
            (McpProblem.TOO_LARGE, None, "The same call would fail again: ask for less, or for parts of it."),
            (McpProblem.MALFORMED, None, "The same call would most likely fail again."),
            (
                McpProblem.REFUSED,
                -32000,
                "The same call would most likely fail again: try it only with other arguments.",
            ),
            (
                McpProblem.REFUSED,
                -32602,
                "The server does not accept these arguments: correct them before you try again.",
            ),
            (
                McpProblem.REFUSED,
                -32042,
                "Tell the user so. When they say that it is done, the same call may be tried again.",
            ),
            (
                McpProblem.UNAUTHORIZED,
                None,
                "Trying again will not help: the user has to log in at the server first.",
            ),
        ],
    )
    def test_failures_say_whether_to_try_again(self, problem: McpProblem, code: int | None, advice: str) -> None:
        server = FakeServer(answer=McpFailure("It went wrong.", problem, code=code))
        what = "MCP tool 'get weather' of server 'srv' failed: It went wrong."
        is_late = problem is McpProblem.TIMED_OUT
        error = ToolError(f"{what} {advice}", ErrorType.TIMEOUT if is_late else ErrorType.MCP_TOOL_ERROR)
        result = asyncio.run(validate_and_execute(tool_of(server=server), {"city": "Oslo"}))
        assert result == ToolResult(f"{what} {advice}", what, error)

    def test_every_problem_has_an_advice(self) -> None:
        for problem in McpProblem:
            with pytest.raises(ToolFailure):
                asyncio.run(tool_of(server=FakeServer(answer=McpFailure("m", problem))).execute({}, ToolContext()))


class TestProgress:
    def shown(self, *progress: McpProgress) -> list[str]:
        lines: list[str] = []
        tool = tool_of(server=FakeServer(answer={"content": []}, progress=progress))
        asyncio.run(execute_safely(tool, {}, ToolContext(update_output=lines.append)))
        return lines

    @pytest.mark.parametrize(
        ("progress", "line"),
        [
            (McpProgress(1), "[1]"),
            (McpProgress(0.5, 2.0, "half"), "[0.5/2] half"),
            (McpProgress(3, 4, "a\n\x1b[31mb\u202e \t c"), "[3/4] a [31mb c"),
            (McpProgress(1, 2, "x" * 10_000), "[1/2] " + "x" * 200),
        ],
    )
    def test_a_line(self, progress: McpProgress, line: str) -> None:
        assert self.shown(progress) == [line]

    def test_a_flood_costs_next_to_nothing(self) -> None:
        assert self.shown(*(McpProgress(number) for number in range(50_000))) == ["[0]"]

    def test_the_latest_is_shown_after_a_while(self) -> None:
        lines: list[str] = []
        seen = asyncio.Event()

        def show(line: str) -> None:
            lines.append(line)
            if len(lines) == 2:
                seen.set()

        class Patient(FakeServer):
            async def call_tool(self, name: str, arguments: Any, *, on_progress: Any = None) -> Any:
                for number in range(5):
                    on_progress(McpProgress(number))
                async with asyncio.timeout(SECONDS):
                    await seen.wait()
                return {"content": []}

        tool = tool_of(server=Patient())
        asyncio.run(execute_safely(tool, {}, ToolContext(update_output=show)))
        assert lines == ["[0]", "[4]"]

    def test_nobody_looks(self) -> None:
        tool = tool_of(server=FakeServer(answer={"content": []}, progress=(McpProgress(1),)))
        assert asyncio.run(execute_safely(tool, {}, ToolContext())).error is None


RICH = str(Path(__file__).parents[1] / "rich_server.py")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def with_rich_server(main: Callable[[dict[str, DiscoveredMCPTool]], Awaitable[None]]) -> None:
    """A real server of the official package, and its tools."""

    async def run() -> None:
        async with open_supervisor() as supervisor:
            client = RecordingClient(python_plan(supervisor, RICH, alias="rich"))
            try:
                status = await client.wait_settled()
                assert status.state is ServerState.CONNECTED, status
                found = build_mcp_tools(client, status.features.tools)
                assert found.problems == ()
                await main({tool.own_name: tool for tool in found.tools})
            finally:
                await client.close()

    asyncio.run(run())


def test_a_real_server() -> None:
    async def main(tools: dict[str, DiscoveredMCPTool]) -> None:
        assert tools["tree"].parameter_schema == {
            "type": "object",
            "properties": {
                "root": {
                    "description": "Where to begin",
                    "properties": {
                        "name": {"type": "string"},
                        "kids": {
                            "default": [],
                            "items": {
                                "type": "object",
                                "properties": {},
                                "description": "(this part repeats itself; what it holds is not told again)",
                            },
                            "type": "array",
                        },
                    },
                    "required": ["name"],
                    "type": "object",
                    "title": "Node",
                },
                "depth": {"nullable": True, "type": "integer"},
            },
            "required": ["root"],
        }
        nested = {"root": {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c"}]}]}}
        counted = await validate_and_execute(tools["tree"], nested)
        assert counted.llm_content == marked('{\n  "names": 3,\n  "depth": null\n}')
        wrong = await validate_and_execute(tools["tree"], {"root": {"kids": [{"name": 5}]}})
        assert wrong.error is not None
        assert "params/root/kids/0/name must be string" in wrong.error.message

        everything = await validate_and_execute(tools["everything"], {})
        assert everything == ToolResult(
            [
                Text(marked("hello")),
                Text("[Tool 'everything' provided the following image data with mime-type: image/png]"),
                InlineData("image/png", PNG),
                Text("[Tool 'everything' provided the following audio data with mime-type: audio/wav]"),
                InlineData("audio/wav", b"RIFF....WAVEfmt "),
                Text(marked("inside")),
                Text(
                    "[Tool 'everything' provided the following embedded resource with mime-type: "
                    "application/octet-stream, of 120 bytes, which no model takes: they were left out]"
                ),
                Text(marked("Resource Link: The third at memo://three")),
            ],
            "hello\n[Image: image/png]\n[Audio: audio/wav]\ninside\n[Embedded Resource: unknown type]\n"
            "[Link to The third: memo://three]",
        )
        assert (await validate_and_execute(tools["names"], {})).llm_content == marked("a\nb")
        failed = await validate_and_execute(tools["broken"], {})
        assert failed.error is not None
        assert failed.error.type is ErrorType.MCP_TOOL_ERROR
        assert str(failed.return_display).startswith(
            "Error: MCP tool 'broken' reported an error.\nError executing tool"
        )

    with_rich_server(main)


def test_a_real_server_that_tells_of_progress_is_cancelled() -> None:
    async def main(tools: dict[str, DiscoveredMCPTool]) -> None:
        lines: asyncio.Queue[str] = asyncio.Queue()
        context = ToolContext(update_output=lines.put_nowait)
        running = asyncio.create_task(execute_safely(tools["slow"], {}, context))
        async with asyncio.timeout(SECONDS):
            assert await lines.get() == "[1/4] working"
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert (await validate_and_execute(tools["names"], {})).error is None

    with_rich_server(main)

"""The two tools with which a model sees what servers have to be read."""

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from support.mcp.clients import RecordingClient, open_supervisor, python_plan
from support.mcp.fake_server import FakeServer
from tejat.core.approval.confirmation import InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.tools.base import ToolError, ToolResult, validate_and_execute
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.resource_tools import ListMcpResourcesTool, ReadMcpResourceTool
from tejat.mcp.features.resources import ServerResources
from tejat.mcp.types import ServerResource

A = ServerResources(
    FakeServer("a"),
    [
        ServerResource("db://one", "one", "The first"),
        ServerResource("db://two", title="Two"),
        ServerResource("db://three", description="d" * 400),
        ServerResource("db://\x1b", "hid\u200bden\nname", "l\n1"),
    ],
)
B = ServerResources(FakeServer("b"), [ServerResource("db://one")])
EMPTY = ServerResources(FakeServer("empty"), [])


def listed(*offered: ServerResources, server: str | None = None) -> ToolResult:
    tool = ListMcpResourcesTool(lambda: offered)
    return asyncio.run(validate_and_execute(tool, {} if server is None else {"serverName": server}))


class TestList:
    def test_everything(self) -> None:
        assert listed(A, B, EMPTY) == ToolResult(
            "Available MCP Resources:\n"
            "- a:db://one | one | The first\n"
            "- a:db://two | Two\n"
            f"- a:db://three | {'d' * 297}...\n"
            "- a:db://<U+001B> | hid<U+200B>den name | l 1\n"
            "- b:db://one",
            "Listed 5 resource(s).",
        )

    def test_one_server(self) -> None:
        assert listed(A, B, server="b").llm_content == "Available MCP Resources:\n- b:db://one"

    def test_nothing(self) -> None:
        assert listed(EMPTY) == ToolResult("No MCP resources found.", "No MCP resources found.")
        told = "No resources found for server: none"
        assert listed(A, server="none") == ToolResult(told, told)

    def test_very_many(self) -> None:
        many = ServerResources(A.server, [ServerResource(f"x:{number}") for number in range(1_003)])
        lines = str(listed(many).llm_content).split("\n")
        assert (len(lines), lines[-1]) == (1_002, "(and 3 more; name a server to see only its own)")

    def test_declaration(self) -> None:
        tool = ListMcpResourcesTool(lambda: [A])
        assert tool.schema == FunctionDeclaration(
            "list_mcp_resources",
            "Lists the resources that MCP servers offer to be read: files, tables, pages and the like, each as "
            "`server:uri` with its name and description, which are the server's words. Use read_mcp_resource to read "
            "one of them.",
            {
                "type": "object",
                "properties": {
                    "serverName": {"description": "Only list resources of this MCP server.", "type": "string"}
                },
                "required": [],
            },
        )
        assert (tool.kind, asyncio.run(tool.should_confirm_execute({}))) == (Kind.SEARCH, None)
        described = [tool.get_description({}), tool.get_description({"serverName": "a"})]
        assert described == ["of all servers", "of a"]


def reading(answer: Any) -> tuple[ReadMcpResourceTool, FakeServer]:
    server = FakeServer("a", answer)
    offered = [ServerResources(server, [ServerResource("db://one"), ServerResource("db://two")]), B]
    return ReadMcpResourceTool(lambda: offered), server


class TestRead:
    def test_by_either_name(self) -> None:
        tool, server = reading(
            {"contents": [{"text": "one"}, {"blob": b64encode(bytes(5)).decode(), "mimeType": "image/png"}]}
        )
        for uri in ("db://two", "a:db://two"):
            assert asyncio.run(validate_and_execute(tool, {"uri": uri})) == ToolResult(
                "<untrusted_context>\none\n[Binary Data (image/png)]\n\n</untrusted_context>",
                "Read a:db://two: 2 content(s).",
            )
        assert server.requests == [("resource", "db://two")] * 2

    def test_an_empty_one(self) -> None:
        tool, _ = reading({"contents": []})
        result = asyncio.run(validate_and_execute(tool, {"uri": "db://two"}))
        assert result == ToolResult("The resource a:db://two is empty.", "Read a:db://two: 0 content(s).")

    @pytest.mark.parametrize(
        ("uri", "told", "error_type"),
        [
            ("db://x", "Error: Resource not found for URI: db://x", ErrorType.MCP_RESOURCE_NOT_FOUND),
            (
                "file:///etc/passwd",
                "Error: Resource not found for URI: file:///etc/passwd",
                ErrorType.MCP_RESOURCE_NOT_FOUND,
            ),
            (
                "db://one",
                "Error: Several servers have this resource. Name one of them: a:db://one, b:db://one",
                ErrorType.INVALID_TOOL_PARAMS,
            ),
            (" ", 'Parameter "uri" must be a non-empty string.', ErrorType.INVALID_TOOL_PARAMS),
        ],
    )
    def test_which_one(self, uri: str, told: str, error_type: ErrorType) -> None:
        tool, server = reading({})
        assert asyncio.run(validate_and_execute(tool, {"uri": uri})).error == ToolError(told, error_type)
        with pytest.raises(ToolFailure):
            asyncio.run(tool.should_confirm_execute({"uri": uri}))
        assert server.requests == []

    @pytest.mark.parametrize(
        ("problem", "error_type"),
        [(McpProblem.REFUSED, ErrorType.MCP_TOOL_ERROR), (McpProblem.TIMED_OUT, ErrorType.TIMEOUT)],
    )
    def test_it_fails(self, problem: McpProblem, error_type: ErrorType) -> None:
        tool, _ = reading(McpFailure("It went wrong.", problem))
        told = "Error: Failed to read resource db://two: It went wrong."
        result = asyncio.run(validate_and_execute(tool, {"uri": "db://two"}))
        assert result == ToolResult(told, told, ToolError(told, error_type))

    def test_the_person_is_asked(self) -> None:
        tool, server = reading({})
        assert asyncio.run(tool.should_confirm_execute({"uri": "db://two"})) == InfoConfirmation(
            title="Confirm MCP Resource Read", prompt="Read resource db://two from MCP server a"
        )
        assert (tool.kind, tool.is_read_only, server.requests) == (Kind.OTHER, False, [])
        assert tool.get_description({"uri": "db://two"}) == "db://two"


def test_a_real_server() -> None:
    async def main() -> None:
        async with open_supervisor() as supervisor:
            client = RecordingClient(
                python_plan(supervisor, str(Path(__file__).parents[1] / "rich_server.py"), alias="rich")
            )
            try:
                status = await client.wait_settled()
                tools = [ServerResources(client, status.features.resources)]
                listing = await validate_and_execute(ListMcpResourcesTool(lambda: tools), {})
                assert listing.llm_content == (
                    "Available MCP Resources:\n"
                    "- rich:memo://one | one | A memo.\n"
                    "- rich:file:///etc/hostname | not_our_file | Bytes of its own."
                )
                read = [
                    (await validate_and_execute(ReadMcpResourceTool(lambda: tools), {"uri": uri})).llm_content
                    for uri in ("memo://one", "rich:file:///etc/hostname")
                ]
                assert read == [
                    "<untrusted_context>\nremember\n\n</untrusted_context>",
                    "<untrusted_context>\n[Binary Data (application/x-thing)]\n\n</untrusted_context>",
                ]
            finally:
                await client.close()

    asyncio.run(main())

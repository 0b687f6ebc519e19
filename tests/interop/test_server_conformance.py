"""The official conformance suite against our server, over HTTP, with tools of the names that it calls."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from support.mcp.conformance import run_suite
from support.mcp.node_programs import CONFORMANCE, find_node
from support.mcp.tool_server import tool_server
from tejat.app.tools.tool_host import ToolHostOptions
from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import InlineData, JsonObject, Params, PartListUnion, Text
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.ui.mcp_server.streamable_http import ENDPOINT_PATH, HttpEndpoint
from tejat.workspace.http.server import ServerRequest, ServerResponse, serve
from tejat.workspace.http.types import Headers

NO_LOG = "the server sends no log messages to its clients"
NO_COMPLETION = "there is nothing to complete: the server has no prompts and no resources"
NO_FORMS_OF_TOOLS = "tools do not ask for fields of their own: the server asks only whether something may be done"
NO_RESOURCES = "the server has no resources"
NO_PROMPTS = "the server has no prompts"
NOT_FOR_US = {
    "logging-set-level": NO_LOG,
    "tools-call-with-logging": NO_LOG,
    "completion-complete": NO_COMPLETION,
    "tools-call-sampling": "the tools ask no model of the client",
    "elicitation-sep1034-defaults": NO_FORMS_OF_TOOLS,
    "elicitation-sep1330-enums": NO_FORMS_OF_TOOLS,
    "resources-list": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "prompts-list": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
}
FOR_US = {
    "dns-rebinding-protection",
    "json-schema-2020-12",
    "ping",
    "server-initialize",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
}

TOKEN = "the-suite-has-none"
NOTHING: JsonObject = {"type": "object", "properties": {}}
NEW_SCHEMA: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
MESSAGE: JsonObject = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
PNG = InlineData("image/png", b"\x89PNG\r\n\x1a\n" + bytes(8))
WAV = InlineData("audio/wav", b"RIFF....WAVEfmt ")
DATA = InlineData("application/json", b'{"test": "data"}')


class Gives(BaseTool):
    """A tool that gives always the same."""

    def __init__(self, name: str, content: PartListUnion, schema: JsonObject = NOTHING) -> None:
        super().__init__(name=name, description="For the suite.", parameter_schema=schema, kind=Kind.READ)
        self._content = content

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(self._content)


class Fails(Gives):
    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        raise ToolFailure("This tool fails on purpose.", ErrorType.EXECUTION_FAILED)


class Asks(Gives):
    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return InfoConfirmation(title="Go on?", prompt=str(params["message"]))


class ReportsProgress(Gives):
    """A tool that tells how far it is, no faster than clients are told."""

    def __init__(self, name: str, content: PartListUnion) -> None:
        super().__init__(name, content)
        self.can_update_output = True

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        for percent in (0, 50, 100):
            context.update_output(f"{percent} %")
            await asyncio.sleep(0.4)
        return ToolResult(self._content)


def tools() -> tuple[BaseTool, ...]:
    return (
        Gives("test_simple_text", "This is a simple text response for testing."),
        Gives("test_image_content", PNG),
        Gives("test_audio_content", WAV),
        Gives("test_embedded_resource", DATA),
        Gives("test_multiple_content_types", [Text("Several:"), PNG, DATA]),
        Gives("json_schema_2020_12_tool", "ok", NEW_SCHEMA),
        Gives("test_reconnection", "Nobody has to connect again."),
        Fails("test_error_handling", ""),
        ReportsProgress("test_tool_with_progress", "told"),
        Asks("test_elicitation", "answered", MESSAGE),
    )


@asynccontextmanager
async def served(directory: Path) -> AsyncGenerator[str]:
    """The address of our server. Its clients need no token, as the suite cannot send one."""
    demo = tools()
    allowed = tuple(tool.name for tool in demo if not isinstance(tool, Asks))
    async with tool_server(directory, ToolHostOptions(tools=demo, allowed_tools=allowed)) as server:
        endpoint = HttpEndpoint(server, token=TOKEN)

        async def handle(request: ServerRequest) -> ServerResponse:
            headers = Headers((*request.headers.items(), ("authorization", f"Bearer {TOKEN}")))
            return await endpoint.handle(ServerRequest(request.method, request.target, headers, request.read))

        serving = await serve(handle, port=0)
        endpoint.port = serving.port
        try:
            yield f"http://127.0.0.1:{serving.port}{ENDPOINT_PATH}"
        finally:
            await serving.close(grace_seconds=0.5)
            await endpoint.close()


def test_every_scenario_that_concerns_us_passes(tmp_path: Path) -> None:
    program = find_node(CONFORMANCE, min_version=22)
    project = tmp_path / "project"
    project.mkdir()

    async def main() -> dict[str, list[str]]:
        async with served(project) as address:
            return await run_suite(program, "server", "--url", address, "--suite", "all", results=tmp_path / "results")

    found = {name.removeprefix("server-"): problems for name, problems in asyncio.run(main()).items()}
    assert {name: problems for name, problems in found.items() if problems and name not in NOT_FOR_US} == {}
    # Whatever passes by now is to be tried from now on.
    assert {name for name, problems in found.items() if not problems} == FOR_US
    assert set(found) - FOR_US == set(NOT_FOR_US)

"""Tools of MCP servers."""

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from tejat.core.approval.confirmation import Confirmation, McpConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import JsonObject, Params
from tejat.core.sanitize import strip_hidden
from tejat.core.text.digest import sha256
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.tool_pins import ToolPins, tool_digest
from tejat.mcp.features.tool_schema import schema_for_model
from tejat.mcp.names import assign_tool_names, display_name, is_tool_enabled
from tejat.mcp.protocol import INVALID_PARAMS, URL_ELICITATION_REQUIRED
from tejat.mcp.types import ClientSession, McpProgress, ServerTool, ToolAnnotations

MAX_DESCRIPTION_LENGTH = 8 * 1024
"""Limit of a tool's description."""

_MAX_PROGRESS_LENGTH = 200
_UPDATE_INTERVAL = 0.1


class DiscoveredMcpTools(Frozen):
    """Usable tools of one server, and why others are not."""

    tools: "tuple[DiscoveredMCPTool, ...]"
    problems: tuple[str, ...] = ()


def build_mcp_tools(
    server: ClientSession,
    declared: Sequence[ServerTool],
    *,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    pins: ToolPins | None = None,
    is_on_other_host: bool = False,
) -> DiscoveredMcpTools:
    """Build the tools of a server, in its order, as far as the settings include them. Never raises.

    The alias must pass `names.alias_problem`. The tools work as long as the server can be reached; they are rebuilt
    when its list changes. `is_on_other_host`: see `remote.is_on_other_host`.
    """
    enabled = [tool for tool in declared if is_tool_enabled(tool.name, include=include, exclude=exclude)]
    naming = assign_tool_names(server.alias, [tool.name for tool in enabled])
    by_name = {tool.name: tool for tool in enabled}
    tools: list[DiscoveredMCPTool] = []
    problems = list(naming.problems)
    for named in naming.tools:
        tool = by_name[named.own_name]
        schema = schema_for_model(tool.input_schema, tool=named.name)
        if isinstance(schema, str):
            problems.append(schema)
            continue
        try:
            digest = tool_digest(tool)
        except ValueError as error:
            problems.append(f"The tool {named.name} was left out, because of what it declares: {error}.")
            continue
        tools.append(
            DiscoveredMCPTool(
                server,
                tool,
                name=named.name,
                parameter_schema=schema,
                digest=digest,
                pins=pins,
                is_on_other_host=is_on_other_host,
            )
        )
    return DiscoveredMcpTools(tuple(tools), tuple(problems))


class DiscoveredMCPTool(BaseTool):
    """A tool of an MCP server.

    Its description is marked as the server's for the model and shown in full to the user. Annotations never relax a
    decision: the kind is always OTHER. The model gets a cleaned schema; arguments are validated against the original
    one.
    """

    def __init__(
        self,
        server: ClientSession,
        declared: ServerTool,
        *,
        name: str,
        parameter_schema: JsonObject,
        digest: str,
        pins: ToolPins | None = None,
        is_on_other_host: bool = False,
    ) -> None:
        description = _truncate(declared.description or declared.title or "")
        shown = strip_hidden(description) or "it says nothing about this tool."
        super().__init__(
            name=name,
            display_name=display_name(server.alias, declared.name),
            description=f"From MCP server {server.alias}: {shown}",
            parameter_schema=parameter_schema,
            kind=Kind.OTHER,
            is_output_markdown=False,
            can_update_output=True,
        )
        self.server_name = server.alias
        self.has_changed = pins is not None and pins.has_changed(server.alias, declared.name, digest)
        self.may_change_files = not is_on_other_host
        self.hints = _hints(declared.annotations)
        self._server = server
        self._declared = declared
        self._server_description = description
        self._digest = digest
        self._pins = pins

    @property
    def own_name(self) -> str:
        return self._declared.name

    def on_allowed(self) -> None:
        if self._pins is not None:
            self._pins.record_approval(self._server.alias, self.own_name, self._digest)
        self.has_changed = False

    def validate_tool_params(self, params: object) -> str | None:
        from tejat.core.tools.schema_validation import validation_problem

        return validation_problem(params, self._declared.input_schema or {})

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        """The server's description is unsanitized: whoever shows it makes hidden characters visible."""
        descriptions = (self._server_description, _format_annotations(self._declared.annotations))
        return McpConfirmation(
            title=lazy("Confirm MCP Tool Execution"),
            server_name=self._server.alias,
            tool_name=self.own_name,
            tool_display_name=self.display_name,
            tool_args=cast("JsonObject", params),
            tool_description="\n\n".join(filter(None, descriptions)) or None,
            tool_parameter_schema=self.parameter_schema,
            digest=self._call_digest(params),
        )

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        approved = context.approved
        if isinstance(approved, McpConfirmation) and approved.digest != self._call_digest(params):
            message = lazy("This is not the call the user approved: the tool or its arguments changed.")
            raise ToolFailure(message, ErrorType.EXECUTION_FAILED)
        arguments = cast("JsonObject", params)
        progress = _ProgressDisplay(context.update_output)
        try:
            answer = await self._server.call_tool(self.own_name, arguments, on_progress=progress.add)
        except McpFailure as failure:
            raise self._tool_failure(failure) from failure
        finally:
            progress.close()
        from tejat.mcp.content.tool_result import parse_tool_result

        return parse_tool_result(answer, tool=self.own_name, arguments=arguments)

    def _call_digest(self, params: Params) -> str:
        call = f"{self._digest}\0{dump_json(cast('JsonObject', params))}"
        return sha256(call.encode("utf-8", "surrogatepass")).hexdigest()

    def _tool_failure(self, failure: McpFailure) -> ToolFailure:
        what = lazy(
            "MCP tool '{tool}' of server '{server}' failed: {why}",
            tool=self.own_name,
            server=self._server.alias,
            why=failure.message,
        )
        advice = _ADVICE_BY_CODE.get(failure.code) or _ADVICE[failure.problem]
        is_late = failure.problem is McpProblem.TIMED_OUT
        error_type = ErrorType.TIMEOUT if is_late else ErrorType.MCP_TOOL_ERROR
        return ToolFailure(f"{what} {advice}", error_type, display=what)


_ADVICE_BY_CODE: dict[int | None, str] = {
    INVALID_PARAMS: "The server does not accept these arguments: correct them before you try again.",
    URL_ELICITATION_REQUIRED: "Tell the user so. When they say that it is done, the same call may be tried again.",
}
_ADVICE = {
    McpProblem.CONFIGURATION: "Trying again will not help: the user has to correct the settings of the server.",
    McpProblem.START: "The server cannot be reached. Do without it unless the user says that it is back.",
    McpProblem.CLOSED: "Where it matters, find out first whether it was done. Then it may be tried once more.",
    McpProblem.TIMED_OUT: (
        "The server was told to stop, but may have done part of it: find out first where that matters. "
        "A smaller call may be tried."
    ),
    McpProblem.TOO_LARGE: "The same call would fail again: ask for less, or for parts of it.",
    McpProblem.MALFORMED: "The same call would most likely fail again.",
    McpProblem.REFUSED: "The same call would most likely fail again: try it only with other arguments.",
    McpProblem.UNAUTHORIZED: "Trying again will not help: the user has to log in at the server first.",
}


def _truncate(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION_LENGTH else f"{text[: MAX_DESCRIPTION_LENGTH - 6]} [...]"


def _hints(annotations: ToolAnnotations) -> dict[str, object]:
    """The annotations that the server gave, by their names in the protocol."""
    named = {
        "title": annotations.title,
        "readOnlyHint": annotations.read_only,
        "destructiveHint": annotations.destructive,
        "idempotentHint": annotations.idempotent,
        "openWorldHint": annotations.open_world,
    }
    return {name: value for name, value in named.items() if value is not None}


def _format_annotations(annotations: ToolAnnotations) -> str:
    claims = [
        claim
        for is_claimed, claim in (
            (annotations.read_only is True, "it only reads"),
            (annotations.read_only is False, "it changes something"),
            (annotations.destructive is True, "it may destroy something"),
            (annotations.destructive is False, "it destroys nothing"),
            (annotations.idempotent is True, "doing it twice is as doing it once"),
            (annotations.open_world is True, "it reaches out to the world"),
        )
        if is_claimed
    ]
    return f"The server says (nobody has checked it): {', '.join(claims)}." if claims else ""


class _ProgressDisplay:
    """Shows the latest progress, at a readable rate."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._latest: McpProgress | None = None
        self._timer: asyncio.TimerHandle | None = None

    def add(self, progress: McpProgress) -> None:
        self._latest = progress
        if self._timer is None:
            self._update()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _update(self) -> None:
        latest, self._latest, self._timer = self._latest, None, None
        if latest is not None:
            self._timer = asyncio.get_running_loop().call_later(_UPDATE_INTERVAL, self._update)
            self._show(_format_progress(latest))


def _format_progress(progress: McpProgress) -> str:
    """Format progress as one sanitized line."""
    total = "" if progress.total is None else f"/{progress.total:g}"
    message = " ".join(strip_hidden(progress.message[: 2 * _MAX_PROGRESS_LENGTH]).split())[:_MAX_PROGRESS_LENGTH]
    return f"[{progress.done:g}{total}] {message}".rstrip()

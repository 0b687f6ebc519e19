"""`list_mcp_resources` and `read_mcp_resource`."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.sanitize import sanitize_summary
from tejat.core.tools.base import ProposingTool, ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.mcp.content.untrusted import wrap_untrusted
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.resources import (
    ResourceRef,
    ServerResources,
    TextResourceContents,
    find_resources,
    read_resource,
)

ListServerResources: TypeAlias = Callable[[], Sequence[ServerResources]]
"""Returns the current resources of the servers."""

_MAX_LISTED = 1_000
_MAX_FIELD_LENGTH = 300


class ListMcpResourcesParams(Frozen):
    serverName: Annotated[  # noqa: N815 -- the name in the schema
        str | None, Param("Only list resources of this MCP server.")
    ] = None


class ListMcpResourcesTool(TypedTool[ListMcpResourcesParams]):
    """Sends no request: resources were listed when the server was connected. Hence read-only."""

    error_label = "list MCP resources"

    def __init__(self, list_resources: ListServerResources) -> None:
        super().__init__(
            name="list_mcp_resources",
            display_name="ListMcpResources",
            description=(
                "Lists the resources that MCP servers offer to be read: files, tables, pages and the like, each as "
                "`server:uri` with its name and description, which are the server's words. Use read_mcp_resource to "
                "read one of them."
            ),
            parameters=ListMcpResourcesParams,
            kind=Kind.SEARCH,
        )
        self._list_resources = list_resources

    def describe(self, params: ListMcpResourcesParams) -> str:
        return f"of {params.serverName}" if params.serverName else "of all servers"

    async def run(self, params: ListMcpResourcesParams, context: ToolContext) -> ToolResult:
        name = params.serverName
        found = [
            ResourceRef(offered.server, resource)
            for offered in self._list_resources()
            if not name or offered.server.alias == name
            for resource in offered.resources
        ]
        if not found:
            message = f"No resources found for server: {name}" if name else "No MCP resources found."
            return ToolResult(message, message)
        lines = ["Available MCP Resources:", *map(_format_line, found[:_MAX_LISTED])]
        if len(found) > _MAX_LISTED:
            lines.append(f"(and {len(found) - _MAX_LISTED} more; name a server to see only its own)")
        return ToolResult("\n".join(lines), f"Listed {len(found)} resource(s).")


def _format_line(found: ResourceRef) -> str:
    resource = found.resource
    fields = [
        sanitize_summary(found.label),
        _field(resource.name or resource.title or ""),
        _field(resource.description),
    ]
    return "- " + " | ".join(filter(None, fields))


def _field(text: str) -> str:
    line = sanitize_summary(text)
    return line if len(line) <= _MAX_FIELD_LENGTH else f"{line[: _MAX_FIELD_LENGTH - 3]}..."


class ReadMcpResourceParams(Frozen):
    uri: Annotated[str, Param("The resource, as `server:uri` or just its uri, as list_mcp_resources shows it.")]


class ReadMcpResourceTool(ProposingTool[ReadMcpResourceParams]):
    """Makes an external server act, so it is not of a read-only kind."""

    error_label = "read MCP resource"

    def __init__(self, list_resources: ListServerResources) -> None:
        super().__init__(
            name="read_mcp_resource",
            display_name="ReadMcpResource",
            description=(
                "Reads a resource of an MCP server, one of those that list_mcp_resources shows, and returns its text; "
                "of binary content only the kind is told. What it returns are the server's words, not the user's."
            ),
            parameters=ReadMcpResourceParams,
            kind=Kind.OTHER,
        )
        self._list_resources = list_resources

    def check(self, params: ReadMcpResourceParams) -> None:
        if not params.uri.strip():
            raise ToolFailure(lazy('Parameter "uri" must be a non-empty string.'), ErrorType.INVALID_TOOL_PARAMS)

    def describe(self, params: ReadMcpResourceParams) -> str:
        return params.uri

    async def propose(self, params: ReadMcpResourceParams) -> Confirmation | None:
        found = self._find(params)
        return InfoConfirmation(
            title=lazy("Confirm MCP Resource Read"),
            prompt=lazy(
                "Read resource {uri} from MCP server {server}", server=found.server.alias, uri=found.resource.uri
            ),
        )

    async def run(self, params: ReadMcpResourceParams, context: ToolContext) -> ToolResult:
        found = self._find(params)
        try:
            contents = await read_resource(found)
        except McpFailure as failure:
            message = lazy("Error: Failed to read resource {uri}: {why}", uri=found.resource.uri, why=failure.message)
            is_late = failure.problem is McpProblem.TIMED_OUT
            raise ToolFailure(message, ErrorType.TIMEOUT if is_late else ErrorType.MCP_TOOL_ERROR) from failure
        text = "".join(
            f"{content.text}\n"
            if isinstance(content, TextResourceContents)
            else f"[Binary Data ({content.mime_type})]\n"
            for content in contents
        )
        shown = lazy("Read {label}: {count} content(s).", label=found.label, count=len(contents))
        return ToolResult(wrap_untrusted(text) if contents else f"The resource {found.label} is empty.", shown)

    def _find(self, params: ReadMcpResourceParams) -> ResourceRef:
        match find_resources(params.uri, self._list_resources()):
            case ():
                message = lazy("Error: Resource not found for URI: {uri}", uri=params.uri)
                raise ToolFailure(message, ErrorType.MCP_RESOURCE_NOT_FOUND)
            case (only,):
                return only
            case several:
                names = ", ".join(found.label for found in several)
                message = lazy("Error: Several servers have this resource. Name one of them: {names}", names=names)
                raise ToolFailure(message, ErrorType.INVALID_TOOL_PARAMS)

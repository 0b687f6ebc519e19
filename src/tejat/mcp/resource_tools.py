"""`list_mcp_resources` and `read_mcp_resource`: what servers have to be read, for a model."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

from tejat.core.confirm import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.resources import Found, Offered, TextContent, find_resource, read_resource
from tejat.mcp.untrusted import untrusted

Offers: TypeAlias = Callable[[], Sequence[Offered]]
"""What servers have now."""

_MOST_LISTED = 1_000
_LONGEST_FIELD = 300


@value
class ListParams:
    serverName: Annotated[  # noqa: N815 -- the name that the model is told
        str | None, Param("Only list resources of this MCP server.")
    ] = None


class ListMcpResourcesTool(TypedTool[ListParams]):
    """It asks no server anything: what is listed was told when the server was connected. So it only reads."""

    spoken_name = "list MCP resources"

    def __init__(self, offers: Offers) -> None:
        super().__init__(
            name="list_mcp_resources",
            display_name="ListMcpResources",
            description=(
                "Lists the resources that MCP servers offer to be read: files, tables, pages and the like, each as "
                "`server:uri` with its name and description, which are the server's words. Use read_mcp_resource to "
                "read one of them."
            ),
            parameters=ListParams,
            kind=Kind.SEARCH,
        )
        self._offers = offers

    def describe(self, params: ListParams) -> str:
        return f"of {params.serverName}" if params.serverName else "of all servers"

    async def run(self, params: ListParams, context: ToolContext) -> ToolResult:
        name = params.serverName
        found = [
            Found(offered.server, resource)
            for offered in self._offers()
            if not name or offered.server.alias == name
            for resource in offered.resources
        ]
        if not found:
            told = f"No resources found for server: {name}" if name else "No MCP resources found."
            return ToolResult(told, told)
        lines = ["Available MCP Resources:", *map(_line, found[:_MOST_LISTED])]
        if len(found) > _MOST_LISTED:
            lines.append(f"(and {len(found) - _MOST_LISTED} more; name a server to see only its own)")
        return ToolResult("\n".join(lines), f"Listed {len(found)} resource(s).")


def _line(found: Found) -> str:
    resource = found.resource
    fields = [_one_line(found.label), _field(resource.name or resource.title or ""), _field(resource.description)]
    return "- " + " | ".join(filter(None, fields))


def _field(text: str) -> str:
    line = _one_line(text)
    return line if len(line) <= _LONGEST_FIELD else f"{line[: _LONGEST_FIELD - 3]}..."


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


@value
class ReadParams:
    uri: Annotated[str, Param("The resource, as `server:uri` or just its uri, as list_mcp_resources shows it.")]


class ReadMcpResourceTool(ProposingTool[ReadParams]):
    """It makes somebody else's server do something, so it is of no kind that is let through for only reading."""

    spoken_name = "read MCP resource"

    def __init__(self, offers: Offers) -> None:
        super().__init__(
            name="read_mcp_resource",
            display_name="ReadMcpResource",
            description=(
                "Reads a resource of an MCP server, one of those that list_mcp_resources shows, and returns its text; "
                "of binary content only the kind is told. What it returns are the server's words, not the user's."
            ),
            parameters=ReadParams,
            kind=Kind.OTHER,
        )
        self._offers = offers

    def check(self, params: ReadParams) -> None:
        if not params.uri.strip():
            raise ToolFailure(phrase('Parameter "uri" must be a non-empty string.'), ErrorType.INVALID_TOOL_PARAMS)

    def describe(self, params: ReadParams) -> str:
        return params.uri

    async def propose(self, params: ReadParams) -> Confirmation | None:
        found = self._found(params)
        return InfoConfirmation(
            title=phrase("Confirm MCP Resource Read"),
            prompt=phrase(
                "Ask MCP server {server} for its resource {uri}", server=found.server.alias, uri=found.resource.uri
            ),
        )

    async def run(self, params: ReadParams, context: ToolContext) -> ToolResult:
        found = self._found(params)
        try:
            contents = await read_resource(found)
        except McpFailure as failure:
            told = phrase("Error: Failed to read resource {uri}: {why}", uri=found.resource.uri, why=failure.message)
            is_late = failure.problem is McpProblem.TIMED_OUT
            raise ToolFailure(told, ErrorType.TIMEOUT if is_late else ErrorType.MCP_TOOL_ERROR) from failure
        text = "".join(
            f"{content.text}\n" if isinstance(content, TextContent) else f"[Binary Data ({content.mime_type})]\n"
            for content in contents
        )
        shown = phrase("Read {label}: {count} content(s).", label=found.label, count=len(contents))
        return ToolResult(untrusted(text) if contents else f"The resource {found.label} is empty.", shown)

    def _found(self, params: ReadParams) -> Found:
        match find_resource(params.uri, self._offers()):
            case ():
                told = phrase("Error: Resource not found for URI: {uri}", uri=params.uri)
                raise ToolFailure(told, ErrorType.MCP_RESOURCE_NOT_FOUND)
            case (only,):
                return only
            case several:
                names = ", ".join(found.label for found in several)
                told = phrase(
                    "Error: Several servers have a resource of this URI. Say which one you mean: {names}", names=names
                )
                raise ToolFailure(told, ErrorType.INVALID_TOOL_PARAMS)

"""Stand-ins for tools that are decided and asked about, but not run."""

from collections.abc import Callable
from functools import partial

from tejat.core.approval.confirmation import Confirmation
from tejat.core.errors import ToolFailure
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ToolContext, ToolLocation, ToolResult
from tejat.tools.registry import ToolEntry, ToolRegistry

_UNRUN_KINDS = frozenset({Kind.EXECUTE, Kind.FETCH})
_WEB_SEARCH = "google_web_search"

ResultOf = Callable[[str, Params], str]
"""Returns what a call of a tool with these arguments gives."""


def replace_tools(registry: ToolRegistry, result_of: ResultOf) -> frozenset[str]:
    """Replace the tools that reach anything outside the project, and return their names."""
    entries = [entry for entry in registry.entries() if not _stays_inside(entry)]
    for entry in entries:
        registry.unregister(entry.name)
        registry.register_entry(replace(entry, load=partial(_load, entry, result_of)))
    return frozenset(entry.name for entry in entries)


def _stays_inside(entry: ToolEntry) -> bool:
    return entry.source is ToolSource.BUILT_IN and entry.kind not in _UNRUN_KINDS and entry.name != _WEB_SEARCH


def _load(entry: ToolEntry, result_of: ResultOf) -> BaseTool:
    return UnrunTool(entry.load(), result_of)


class UnrunTool(BaseTool):
    """A tool with the arguments and questions of another one, and given results."""

    may_change_files = False

    def __init__(self, tool: BaseTool, result_of: ResultOf) -> None:
        super().__init__(
            name=tool.name,
            display_name=tool.display_name,
            description=tool.description,
            parameter_schema=tool.parameter_schema,
            kind=tool.kind,
        )
        self._tool = tool
        self._result_of = result_of

    def rejection(self, params: object) -> ToolFailure | None:
        return self._tool.rejection(params)

    def get_description(self, params: Params) -> str:
        return self._tool.get_description(params)

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        return self._tool.tool_locations(params)

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return await self._tool.should_confirm_execute(params)

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        result = self._result_of(self.name, params)
        return ToolResult(result, result)

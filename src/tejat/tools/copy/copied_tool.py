"""A tool whose calls run in a copy of the workspace."""

from collections.abc import Sequence
from typing import Protocol

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import _
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolLocation, ToolResult
from tejat.workspace.paths.real_path import real_path

_NO_NETWORK = "Commands have no network in this copy of the files. Do without it, or say in your result what needs it."
_NO_BACKGROUND = "Commands cannot be left running in this copy of the files. Run them in the foreground."


class CopyCaller(Protocol):
    """Runs calls in a copy."""

    async def call(self, name: str, params: Params, paths: Sequence[str], context: ToolContext) -> ToolResult:
        """Run a call whose rules were applied to these real paths. Raises ToolFailure."""
        ...


class CopiedTool(BaseTool):
    """Looks like `tool`, and runs in the copy. Nothing real changes, so there is nothing to undo."""

    limits_own_output = True
    may_change_files = False

    def __init__(self, tool: BaseTool, worker: CopyCaller) -> None:
        super().__init__(
            name=tool.name,
            description=tool.description,
            parameter_schema=tool.parameter_schema,
            display_name=tool.display_name,
            kind=tool.kind,
            is_output_markdown=tool.is_output_markdown,
            can_update_output=tool.can_update_output,
        )
        self._tool = tool
        self._worker = worker

    def rejection(self, params: object) -> ToolFailure | None:
        return self._tool.rejection(params)

    def validate_tool_params(self, params: object) -> str | None:
        return self._tool.validate_tool_params(params)

    def get_description(self, params: Params) -> str:
        return self._tool.get_description(params)

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        return self._tool.tool_locations(params)

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        """A question in words: the files that a diff would compare with are those of the copy."""
        return InfoConfirmation(_("Continue in the copy"), self._tool.get_description(params))

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        """Run the call in the copy. Raises ToolFailure."""
        if params.get("network") is True:
            raise ToolFailure(_NO_NETWORK, ErrorType.EXECUTION_FAILED)
        if params.get("is_background") is True:
            raise ToolFailure(_NO_BACKGROUND, ErrorType.EXECUTION_FAILED)
        paths = [real_path(location.path) for location in self._tool.tool_locations(params)]
        return await self._worker.call(self.name, params, paths, context)

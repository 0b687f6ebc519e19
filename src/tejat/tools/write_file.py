"""`write_file`: creates a file or replaces its content."""

from functools import partial
from typing import Annotated

from tejat.core.approval.confirmation import Confirmation, EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.tools.base import ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.edit.omission.placeholders import find_omission_placeholders
from tejat.tools.failures import invalid_params
from tejat.tools.files.change import FileChange, apply_change, plan_rewrite
from tejat.tools.files.current_file import read_current
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.elision_check import find_elision_failure
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken


class WriteFileParams(Frozen):
    file_path: Annotated[str, Param("The file, as an absolute path.")]
    content: Annotated[str, Param("Everything that the file will hold.")]
    modified_by_user: Annotated[bool, Param(declared=False)] = False
    ai_proposed_content: Annotated[str | None, Param(declared=False)] = None


class WriteFileTool(ProposingTool[WriteFileParams]):
    """The tool `write_file`: create or overwrite a file."""

    error_label = "write file"
    writes_plans = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(**tool_labels("write_file", "WriteFile"), parameters=WriteFileParams, kind=Kind.EDIT)
        self._workspace = workspace

    def check(self, params: WriteFileParams) -> None:
        if not params.file_path.strip():
            raise invalid_params(lazy('Missing or empty "file_path"'))
        if find_omission_placeholders(params.content):
            raise invalid_params(
                lazy(
                    "`content` contains an omission placeholder (for example 'rest of methods ...'). Provide "
                    "complete file content."
                )
            )
        self._workspace.roots.locate(params.file_path)

    def describe(self, params: WriteFileParams) -> str:
        return f"Writing to {short_relative_path(self._workspace.roots.locate(params.file_path))}"

    def locations(self, params: WriteFileParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.file_path).path)]

    async def propose(self, params: WriteFileParams) -> Confirmation | None:
        location = self._workspace.roots.locate(params.file_path)
        title = lazy("Confirm Write: {path}", path=short_relative_path(location))
        return await run_blocking(lambda stop: self._plan_change(location, params, stop).confirmation(title))

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        # The content as shown, with the line endings of the file, so that only changes by the user count as theirs.
        shown = confirmation.new_content if isinstance(confirmation, EditConfirmation) else None
        proposed = params.get("ai_proposed_content", params.get("content") if shown is None else shown)
        return {**params, "content": new_content, "modified_by_user": True, "ai_proposed_content": proposed}

    async def run(self, params: WriteFileParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(context.plan_file or params.file_path)
        return await run_blocking(lambda stop: self._write(location, params, context, stop))

    def _write(self, location: Location, params: WriteFileParams, context: ToolContext, stop: StopToken) -> ToolResult:
        plan = partial(self._plan_change, location, params, stop)
        change, side_effects = apply_change(self._workspace, location, context, plan, stop)
        done = "created and wrote to new file" if change.is_new_file else "overwrote file"
        message = f"Successfully {done}: {location.path}.{side_effects}"
        if params.modified_by_user:
            message += f" User modified the `content` to be: {params.content}"
        return ToolResult(message, change.display("Original", "Written"))

    def _plan_change(self, location: Location, params: WriteFileParams, stop: StopToken) -> FileChange:
        try:
            current = read_current(self._workspace, location, needs_content=False, stop=stop)
        except WorkspaceError as error:
            raise _translate_error(error, location.path) from error
        change = plan_rewrite(current, params.content, proposed=params.ai_proposed_content)
        if not params.modified_by_user and (elision := find_elision_failure(change, [params.content], "content")):
            raise elision
        return change


def _translate_error(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.TARGET_IS_DIRECTORY:
            return ToolFailure(lazy("Path is a directory, not a file: {path}", path=path), error.error_type)
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            message = lazy("Error checking existing file '{path}': {why}", path=path, why=error.message)
            return ToolFailure(message, error.error_type)
        case _:
            return error

"""`write_file`: makes a file or replaces what it holds."""

from typing import Annotated

from tejat.core.confirm import Confirmation, EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.types import Params
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.edit.omission import omission_placeholders
from tejat.tools.file_change import FileChange, look, make, rewriting, side_effects
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location
from tejat.workspace.workspace import Workspace


@value
class WriteFileParams:
    file_path: Annotated[str, Param("The file, as an absolute path.")]
    content: Annotated[str, Param("Everything that the file will hold.")]
    modified_by_user: Annotated[bool, Param(declared=False)] = False
    ai_proposed_content: Annotated[str | None, Param(declared=False)] = None


class WriteFileTool(ProposingTool[WriteFileParams]):
    spoken_name = "write file"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="write_file",
            display_name="WriteFile",
            description=description_of("write_file"),
            parameters=WriteFileParams,
            kind=Kind.EDIT,
        )
        self._workspace = workspace

    def check(self, params: WriteFileParams) -> None:
        if not params.file_path.strip():
            raise ToolFailure(phrase('Missing or empty "file_path"'), ErrorType.INVALID_TOOL_PARAMS)
        if omission_placeholders(params.content):
            raise ToolFailure(
                phrase(
                    "`content` contains an omission placeholder (for example 'rest of methods ...'). Provide "
                    "complete file content."
                ),
                ErrorType.INVALID_TOOL_PARAMS,
            )
        self._workspace.roots.locate(params.file_path)

    def describe(self, params: WriteFileParams) -> str:
        return f"Writing to {short_relative(self._workspace.roots.locate(params.file_path))}"

    def locations(self, params: WriteFileParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.file_path).path)]

    async def propose(self, params: WriteFileParams) -> Confirmation | None:
        location = self._workspace.roots.locate(params.file_path)
        title = phrase("Confirm Write: {path}", path=short_relative(location))
        return await off_loop(lambda _: self._work_out(location, params).confirmation(title))

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        # As it was shown, with the file's own line ends, so that only what the person changed counts as theirs.
        shown = confirmation.new_content if isinstance(confirmation, EditConfirmation) else None
        proposed = params.get("ai_proposed_content", params.get("content") if shown is None else shown)
        return {**params, "content": new_content, "modified_by_user": True, "ai_proposed_content": proposed}

    async def run(self, params: WriteFileParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.file_path)
        return await off_loop(lambda stop: self._write(location, params, context, stop))

    def _write(self, location: Location, params: WriteFileParams, context: ToolContext, stop: Stop) -> ToolResult:
        change, written = make(self._workspace, location, context, lambda: self._work_out(location, params), stop)
        done = "created and wrote to new file" if change.is_new_file else "overwrote file"
        said = f"Successfully {done}: {location.path}.{side_effects(written)}"
        if params.modified_by_user:
            said += f" User modified the `content` to be: {params.content}"
        return ToolResult(said, change.display("Original", "Written"))

    def _work_out(self, location: Location, params: WriteFileParams) -> FileChange:
        try:
            current = look(self._workspace, location)
        except WorkspaceError as error:
            raise _in_words(error, location.path) from error
        return rewriting(current, params.content, proposed=params.ai_proposed_content)


def _in_words(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.TARGET_IS_DIRECTORY:
            return ToolFailure(phrase("Path is a directory, not a file: {path}", path=path), error.error_type)
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            return ToolFailure(
                phrase("Error checking existing file '{path}': {why}", path=path, why=error.message), error.error_type
            )
        case _:
            return error

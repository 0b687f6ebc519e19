"""`replace`: changes text in a file, or makes a new one."""

import os
from dataclasses import dataclass
from typing import Annotated

from tejat.core.confirm import Confirmation, EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.types import Params
from tejat.tools.edit.omission import omission_placeholders
from tejat.tools.edit.stages import EditRequest, find_edits, keeping_final_newline
from tejat.tools.file_change import CurrentFile, FileChange, editing, look, make, rewriting, side_effects
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location
from tejat.workspace.splice import TextFile
from tejat.workspace.workspace import Workspace

_SNIPPET = 30


@dataclass(frozen=True, slots=True)
class ReplaceParams:
    file_path: Annotated[str, Param("The file, as an absolute path.")]
    old_string: Annotated[str, Param("The exact text to replace. Empty: make a new file.")]
    new_string: Annotated[str, Param("The exact text to put in its place.")]
    expected_replacements: Annotated[
        int | None,
        Param("How many places are to be changed, all of them alike. Default: 1.", minimum=1, json_type="number"),
    ] = None
    allow_multiple: Annotated[bool, Param(declared=False)] = False
    instruction: Annotated[str | None, Param(declared=False)] = None
    modified_by_user: Annotated[bool, Param(declared=False)] = False
    ai_proposed_content: Annotated[str | None, Param(declared=False)] = None

    @property
    def request(self) -> EditRequest:
        expected = None if self.allow_multiple else self.expected_replacements or 1
        return EditRequest(self.old_string, self.new_string, expected)


class EditTool(ProposingTool[ReplaceParams]):
    spoken_name = "edit"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="replace",
            display_name="Edit",
            description=description_of("replace"),
            parameters=ReplaceParams,
            kind=Kind.EDIT,
        )
        self._workspace = workspace

    def check(self, params: ReplaceParams) -> None:
        if not os.path.isabs(params.file_path):
            raise ToolFailure(f"File path must be absolute: {params.file_path}", ErrorType.INVALID_TOOL_PARAMS)
        if omission_placeholders(params.new_string) - omission_placeholders(params.old_string):
            raise ToolFailure(
                "`new_string` contains an omission placeholder (for example 'rest of methods ...'). "
                "Provide exact literal replacement text.",
                ErrorType.INVALID_TOOL_PARAMS,
            )
        self._workspace.roots.locate(params.file_path)

    def describe(self, params: ReplaceParams) -> str:
        path = short_relative(self._workspace.roots.locate(params.file_path))
        if not params.old_string:
            return f"Create {path}"
        if params.old_string == params.new_string:
            return f"No file changes to {path}"
        return f"{path}: {_snippet(params.old_string)} => {_snippet(params.new_string)}"

    def locations(self, params: ReplaceParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.file_path).path)]

    async def propose(self, params: ReplaceParams) -> Confirmation | None:
        location = self._workspace.roots.locate(params.file_path)
        title = f"Confirm Edit: {short_relative(location)}"
        return await off_loop(lambda _: self._work_out(location, params).confirmation(title))

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        """The whole file becomes the old text, and what the person wrote the new one.

        Raises ToolFailure for a file that is too large to be shown whole.
        """
        if not isinstance(confirmation, EditConfirmation) or confirmation.new_content is None:
            raise ToolFailure(
                "The file is too large to be rewritten by hand in a confirmation. No edits made.",
                ErrorType.EDIT_PREPARATION_FAILURE,
            )
        return {
            "file_path": params["file_path"],
            "old_string": confirmation.original_content or "",
            "new_string": new_content,
            "modified_by_user": True,
            "ai_proposed_content": params.get("ai_proposed_content", confirmation.new_content),
        }

    async def run(self, params: ReplaceParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.file_path)
        return await off_loop(lambda stop: self._edit(location, params, context, stop))

    def _edit(self, location: Location, params: ReplaceParams, context: ToolContext, stop: Stop) -> ToolResult:
        try:
            change, written = make(self._workspace, location, context, lambda: self._work_out(location, params), stop)
        except WorkspaceError as error:
            raise _failed_write(error) from error
        if change.is_new_file:
            said = f"Created new file: {location.path} with provided content."
        else:
            said = f"Successfully modified file: {location.path} ({change.replacements} replacements)."
        said += side_effects(written)
        if params.modified_by_user:
            said += f" User modified the `new_string` content to be: {params.new_string}."
        display = f"Created {short_relative(location)}" if change.is_new_file else change.display("Current", "Proposed")
        return ToolResult(said, display)

    def _work_out(self, location: Location, params: ReplaceParams) -> FileChange:
        """What the parameters mean for the file as it is now. Raises ToolFailure that says why there is no change."""
        path = location.path
        try:
            current = look(self._workspace, location)
        except WorkspaceError as error:
            raise _failed_read(error, path) from error
        if current.original is None:
            if params.old_string:
                raise _failure(
                    f"File not found: {path}",
                    ErrorType.FILE_NOT_FOUND,
                    "File not found. Cannot apply edit. Use an empty old_string to create a new file.",
                )
            return rewriting(current, params.new_string, proposed=params.ai_proposed_content)
        if not params.old_string:
            raise _failure(
                f"File already exists, cannot create: {path}",
                ErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
                "Failed to edit. Attempted to create a file that already exists.",
            )
        if current.text is None:
            raise _failure(
                f"Failed to read content of existing file: {path}",
                ErrorType.READ_CONTENT_FAILURE,
                "Failed to read content of file. It is not a text file.",
            )
        return self._found(current, current.text, params)

    def _found(self, current: CurrentFile, text: TextFile, params: ReplaceParams) -> FileChange:
        path = current.location.path
        request = params.request
        edits = find_edits(text, request)
        if not edits:
            raise _failure(
                f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in "
                "old_string was not found. Ensure you're not escaping content incorrectly and check whitespace, "
                "indentation, and context. Use read_file tool to verify.",
                ErrorType.EDIT_NO_OCCURRENCE_FOUND,
                "Failed to edit, could not find the string to replace.",
            )
        if not request.accepts(len(edits)):
            expected = f"expected {request.expected} occurrences but found {len(edits)}"
            raise _failure(
                f"Failed to edit, {expected} for old_string in file: {path}",
                ErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
                f"Failed to edit, {expected}.",
            )
        if params.old_string == params.new_string:
            reason = "No changes to apply. The old_string and new_string are identical"
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, f"{reason}.")
        # What the person wrote is the whole file, and ends as they want it to.
        kept = edits if params.modified_by_user else keeping_final_newline(text, edits)
        change = editing(current, text, kept, proposed=params.ai_proposed_content)
        if change is None:
            reason = "No changes to apply. The new content is identical to the current content"
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, f"{reason}.")
        return change


def _snippet(text: str) -> str:
    first_line = text.split("\n", 1)[0][:_SNIPPET]
    return first_line + ("..." if len(text) > _SNIPPET else "")


def _failure(message: str, error_type: ErrorType, display: str) -> ToolFailure:
    return ToolFailure(message, error_type, display=f"Error: {display}")


def _failed_read(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            return _failure(
                f"Failed to read content of existing file: {path}. {error.message}",
                error.error_type,
                "Failed to read content of file.",
            )
        case ErrorType.FILE_WRITE_FAILURE:
            return _failure(f"Error preparing edit: {error.message}", ErrorType.EDIT_PREPARATION_FAILURE, error.message)
        case _:
            return error


def _failed_write(error: WorkspaceError) -> ToolFailure:
    if error.error_type is not ErrorType.FILE_WRITE_FAILURE:
        return error
    return _failure(f"Error executing edit: {error.message}", error.error_type, f"Error writing file: {error.message}")

"""`replace`: changes text in a file, or makes a new one."""

import os
from collections.abc import Callable
from functools import partial
from typing import Annotated, TypeVar

from tejat.core.confirm import Confirmation, EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.failed_edit import Corrector, FailedEdit
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.types import Params
from tejat.core.value import replace, value
from tejat.core.words import joined, phrase, say
from tejat.tools.edit.aftermath import changed_lines
from tejat.tools.edit.correction import Corrections, can_be_corrected, find_corrected, with_plain_line_ends
from tejat.tools.edit.final_newline import keeping_final_newline
from tejat.tools.edit.finding import Found, Refused, find
from tejat.tools.edit.omission import placeholders_only_in
from tejat.tools.edit.refusal import told
from tejat.tools.edit.request import EditRequest
from tejat.tools.file_change import CurrentFile, FileChange, editing, look, make, rewriting, side_effects
from tejat.tools.file_content import ignored_by
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.ignore import Ignored
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location
from tejat.workspace.splice import TextFile
from tejat.workspace.workspace import Workspace

_SNIPPET = 30
_TELLING = 12
"""A shorter text stands in many files."""
_MOST_OTHERS = 3

_Result = TypeVar("_Result")


@value
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
    """`corrector` is asked which text was meant where the one that was given is not in a file that the model knows."""

    spoken_name = "edit"

    def __init__(self, workspace: Workspace, corrector: Corrector | None = None) -> None:
        super().__init__(
            name="replace",
            display_name="Edit",
            description=description_of("replace"),
            parameters=ReplaceParams,
            kind=Kind.EDIT,
        )
        self._workspace = workspace
        self._corrections = None if corrector is None else Corrections(corrector)

    def check(self, params: ReplaceParams) -> None:
        if not os.path.isabs(params.file_path):
            raise ToolFailure(f"File path must be absolute: {params.file_path}", ErrorType.INVALID_TOOL_PARAMS)
        if placeholders_only_in(params.new_string, params.old_string):
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
        title = say("Confirm Edit: {path}", path=short_relative(location))
        return await self._attempt(lambda corrected, _: self._work_out(location, params, corrected).confirmation(title))

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

        def work_out_and_make(corrected: str | None, stop: Stop) -> ToolResult:
            return self._edit(location, params, context, lambda: self._work_out(location, params, corrected), stop)

        return await self._attempt(work_out_and_make)

    async def _attempt(self, work: Callable[[str | None, Stop], _Result]) -> _Result:
        """Do it with what was given, and if that is not there once more with what was meant, looking at the file anew.

        Raises what the first attempt failed of where the second finds nothing either.
        """
        try:
            return await off_loop(lambda stop: work(None, stop))
        except _NotThere as failure:
            if failure.edit is None or self._corrections is None:
                raise
            corrected = await self._corrections.of(failure.edit)
            if corrected is None:
                raise
            try:
                return await off_loop(lambda stop: work(corrected, stop))
            except _NotThere:
                raise failure from None

    def _edit(
        self,
        location: Location,
        params: ReplaceParams,
        context: ToolContext,
        work_out: Callable[[], FileChange],
        stop: Stop,
    ) -> ToolResult:
        try:
            change, written = make(self._workspace, location, context, work_out, stop)
        except WorkspaceError as error:
            raise _failed_write(error) from error
        if change.is_new_file:
            said = f"Created new file: {location.path} with provided content."
        else:
            said = f"Successfully modified file: {location.path} ({change.replacements} replacements)."
        said += side_effects(written)
        if params.modified_by_user:
            said += f" User modified the `new_string` content to be: {params.new_string}."
        said += change.note
        if change.is_new_file:
            return ToolResult(said, phrase("Created {path}", path=short_relative(location)))
        return ToolResult(said, change.display("Current", "Proposed"))

    def _work_out(self, location: Location, params: ReplaceParams, corrected: str | None) -> FileChange:
        """What the parameters mean for the file as it is now. Raises ToolFailure that says why there is no change.

        `corrected` is taken for the text that was meant where that itself is not there.
        """
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
                    phrase("File not found. Cannot apply edit. Use an empty old_string to create a new file."),
                )
            return rewriting(current, params.new_string, proposed=params.ai_proposed_content)
        if not params.old_string:
            raise _failure(
                f"File already exists, cannot create: {path}",
                ErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
                phrase("Failed to edit. Attempted to create a file that already exists."),
            )
        if current.text is None:
            raise _failure(
                f"Failed to read content of existing file: {path}",
                ErrorType.READ_CONTENT_FAILURE,
                phrase("Failed to read content of file. It is not a text file."),
            )
        return self._found(current, current.text, params, corrected)

    def _found(self, current: CurrentFile, text: TextFile, params: ReplaceParams, corrected: str | None) -> FileChange:
        path = current.location.path
        found = self._sought(current, text, params, corrected)
        if params.old_string == params.new_string:
            reason = phrase("No changes to apply. The old_string and new_string are identical")
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, joined("", (reason, ".")))
        # What the person wrote is the whole file, and ends as they want it to.
        kept = found.edits if params.modified_by_user else keeping_final_newline(text, found.edits)
        change = editing(current, text, kept, proposed=params.ai_proposed_content)
        if change is None:
            reason = phrase("No changes to apply. The new content is identical to the current content")
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, joined("", (reason, ".")))
        if not found.corrections:
            return change
        change = replace(change, replacements=found.places)
        return replace(change, note=self._note(current, text, change, found))

    def _sought(self, current: CurrentFile, text: TextFile, params: ReplaceParams, corrected: str | None) -> Found:
        """The edits that are meant. Raises ToolFailure where none are, or not as many as expected."""
        request = params.request
        # What nobody wants changed need not be looked for closely, and the person's text is the whole file.
        is_final = params.modified_by_user or params.old_string == params.new_string
        found = find(text, request, closely=not is_final)
        if isinstance(found, Found):
            return found
        if found.count:
            display = phrase(
                "Failed to edit, expected {expected} occurrences but found {found}.",
                expected=request.expected,
                found=found.count,
            )
            where = told(found, request)
            raise _failure(
                f"{display.removesuffix('.')} for old_string in file: {current.location.path}"
                f"{where if where and self._may_be_shown(current) else ''}",
                ErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
                display,
            )
        edits = [] if corrected is None else find_corrected(text, request, corrected)
        if not edits:
            raise self._not_there(current, text, params, found)
        return Found(edits, len(edits), ("the text that was meant was asked for",))

    def _note(self, current: CurrentFile, text: TextFile, change: FileChange, found: Found) -> str:
        """What the model is told of an edit that was corrected."""
        note = f" old_string does not fit the file as given; it was corrected: {'; '.join(found.corrections)}."
        if not self._may_be_shown(current):
            return note
        after = text.encoding.decode(b"".join(change.pieces))
        return f"{note} {changed_lines(text.text, after)}"

    def _may_be_shown(self, current: CurrentFile) -> bool:
        """Whether the model may see the text: it has, or nothing keeps it from reading the file."""
        if self._workspace.records.has_seen(current.real_path):
            return True
        with self._workspace.roots.open_file(current.location) as file:
            rules_of = partial(self._workspace.ignore_rules, git=False)
            return ignored_by(self._workspace.roots, file, rules_of) is Ignored.NO

    def _not_there(self, current: CurrentFile, text: TextFile, params: ReplaceParams, refused: Refused) -> "_NotThere":
        nearest = told(refused, params.request)
        nearest = nearest if nearest and self._may_be_shown(current) else ""
        failure = _NotThere(current.location.path, self._elsewhere(current, params.old_string) + nearest)
        # What a session has not read may be none of the model's business, so it is not sent along with a question.
        is_known = self._corrections is not None and self._workspace.records.has_seen(current.real_path)
        is_final = params.modified_by_user or params.old_string == params.new_string
        if is_known and not is_final and can_be_corrected(current.real_path, text, params.old_string):
            failure.edit = FailedEdit(
                path=current.location.path,
                content=with_plain_line_ends(text.text),
                old=params.old_string,
                new=params.new_string,
                instruction=params.instruction,
                problem=failure.message,
            )
        return failure

    def _elsewhere(self, current: CurrentFile, old: str) -> str:
        """Says in which other files that the model has seen the text stands: models mix them up."""
        text = with_plain_line_ends(old)
        if len(text.strip()) < _TELLING:
            return ""
        holding = self._workspace.records.holding(text.encode("utf-8", "surrogateescape"))
        others = [path for path in holding if path != current.real_path][:_MOST_OTHERS]
        return f" The exact text stands in another file that was read: {', '.join(others)}." if others else ""


class _NotThere(ToolFailure):
    """The text is not in the file. `edit` is given where somebody may be asked which text was meant."""

    def __init__(self, path: str, nearest: str) -> None:
        super().__init__(
            f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in "
            "old_string was not found. Ensure you're not escaping content incorrectly and check whitespace, "
            f"indentation, and context. Use read_file tool to verify.{nearest}",
            ErrorType.EDIT_NO_OCCURRENCE_FOUND,
            display=phrase("Error: Failed to edit, could not find the string to replace."),
        )
        self.edit: FailedEdit | None = None


def _snippet(text: str) -> str:
    first_line = text.split("\n", 1)[0][:_SNIPPET]
    return first_line + ("..." if len(text) > _SNIPPET else "")


def _failure(message: str, error_type: ErrorType, display: str) -> ToolFailure:
    return ToolFailure(message, error_type, display=phrase("Error: {what}", what=display))


def _failed_read(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            return _failure(
                f"Failed to read content of existing file: {path}. {error.message}",
                error.error_type,
                phrase("Failed to read content of file."),
            )
        case ErrorType.FILE_WRITE_FAILURE:
            return _failure(f"Error preparing edit: {error.message}", ErrorType.EDIT_PREPARATION_FAILURE, error.message)
        case _:
            return error


def _failed_write(error: WorkspaceError) -> ToolFailure:
    if error.error_type is not ErrorType.FILE_WRITE_FAILURE:
        return error
    return _failure(
        f"Error executing edit: {error.message}",
        error.error_type,
        phrase("Error writing file: {why}", why=error.message),
    )

"""`replace`: changes text in a file or creates one."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, TypeVar

from tejat.core.approval.confirmation import Confirmation, EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, join_lazy, lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.text.secret_files import is_secret_file
from tejat.core.tools.base import ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.tools.edit_failure import EditCorrector, EditFailure
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.edit.correction import CorrectionCache, find_corrected, is_correctable
from tejat.tools.edit.final_newline import settle_final_newline
from tejat.tools.edit.match.search_block import normalize_line_endings
from tejat.tools.edit.omission.placeholders import new_placeholders
from tejat.tools.edit.pipeline import find_edits
from tejat.tools.edit.report.error_message import explain_refusal
from tejat.tools.edit.report.result_excerpt import describe_changed_lines
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditMatch, EditRefusal
from tejat.tools.failures import invalid_params
from tejat.tools.files.change import FileChange, apply_change, plan_edits, plan_rewrite
from tejat.tools.files.content import find_ignore_verdict
from tejat.tools.files.current_file import CurrentFile, read_current
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.elision_check import find_elision_failure
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.paths.ignore_rules import IgnoreStatus
from tejat.workspace.text.text_edits import TextFile
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_SNIPPET_LENGTH = 30
_MIN_DISTINCTIVE_LENGTH = 12
"""Shorter texts occur in many files."""
_MAX_OTHER_FILES = 3

_Result = TypeVar("_Result")


class ReplaceParams(Frozen):
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
    """The edit tool. `corrector` is asked for the intended text if the given one is missing in a file that was read."""

    error_label = "edit"
    writes_plans = True

    def __init__(self, workspace: Workspace, corrector: EditCorrector | None = None) -> None:
        super().__init__(**tool_labels("replace", "Edit"), parameters=ReplaceParams, kind=Kind.EDIT)
        self._workspace = workspace
        self._corrections = None if corrector is None else CorrectionCache(corrector)

    def check(self, params: ReplaceParams) -> None:
        if not params.file_path.strip():
            raise invalid_params(lazy('Missing or empty "file_path"'))
        if new_placeholders(params.new_string, params.old_string):
            raise invalid_params(
                "`new_string` contains an omission placeholder (for example 'rest of methods ...'). "
                "Provide exact literal replacement text."
            )
        self._workspace.roots.locate(params.file_path)

    def describe(self, params: ReplaceParams) -> str:
        path = short_relative_path(self._workspace.roots.locate(params.file_path))
        if not params.old_string:
            return f"Create {path}"
        if params.old_string == params.new_string:
            return f"No file changes to {path}"
        return f"{path}: {_snippet(params.old_string)} => {_snippet(params.new_string)}"

    def locations(self, params: ReplaceParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.file_path).path)]

    async def propose(self, params: ReplaceParams) -> Confirmation | None:
        location = self._workspace.roots.locate(params.file_path)
        title = _("Confirm Edit: {path}", path=short_relative_path(location))
        return await self._run_with_correction(
            lambda corrected, stop: self._plan_change(location, params, corrected, stop).confirmation(title)
        )

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        """Replace the whole file by the text of the user.

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
        location = self._workspace.roots.locate(context.plan_file or params.file_path)

        def work_out_and_make(corrected: str | None, stop: StopToken) -> ToolResult:
            plan = partial(self._plan_change, location, params, corrected, stop)
            return self._apply(location, params, context, plan, stop)

        return await self._run_with_correction(work_out_and_make)

    async def _run_with_correction(self, work: Callable[[str | None, StopToken], _Result]) -> _Result:
        """Run `work` with the given text, and if that is not found, once more with the corrected one.

        Raises the first failure if the second attempt finds nothing either.
        """
        try:
            return await run_blocking(lambda stop: work(None, stop))
        except _TextNotFound as failure:
            if failure.edit_failure is None or self._corrections is None:
                raise
            corrected = await self._corrections.get_correction(failure.edit_failure)
            if corrected is None:
                raise
            try:
                return await run_blocking(lambda stop: work(corrected, stop))
            except _TextNotFound:
                raise failure from None

    def _apply(
        self,
        location: Location,
        params: ReplaceParams,
        context: ToolContext,
        work_out: Callable[[], FileChange],
        stop: StopToken,
    ) -> ToolResult:
        try:
            change, side_effects = apply_change(self._workspace, location, context, work_out, stop)
        except WorkspaceError as error:
            raise _translate_write_error(error) from error
        if change.is_new_file:
            message = f"Created new file: {location.path} with provided content."
        else:
            message = f"Successfully modified file: {location.path} ({change.replacements} replacements)."
        message += side_effects
        if params.modified_by_user:
            message += f" User modified the `new_string` content to be: {params.new_string}."
        message += change.note
        if change.is_new_file:
            return ToolResult(message, lazy("Created {path}", path=short_relative_path(location)))
        return ToolResult(message, change.display("Current", "Proposed"))

    def _plan_change(
        self, location: Location, params: ReplaceParams, corrected: str | None, stop: StopToken
    ) -> FileChange:
        """Plan the change for the file as it is now. Raises ToolFailure that says why there is none.

        `corrected` is the text to look for if the given one is not found.
        """
        path = location.path
        try:
            current = read_current(self._workspace, location, stop=stop)
        except WorkspaceError as error:
            raise _translate_read_error(error, path) from error
        if not current.exists:
            if params.old_string:
                raise _failure(
                    f"File not found: {path}",
                    ErrorType.FILE_NOT_FOUND,
                    lazy("File not found. Cannot apply edit. Use an empty old_string to create a new file."),
                )
            return plan_rewrite(current, params.new_string, proposed=params.ai_proposed_content)
        if not params.old_string:
            raise _failure(
                f"File already exists, cannot create: {path}",
                ErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
                lazy("Failed to edit. Attempted to create a file that already exists."),
            )
        if current.text is None:
            raise _failure(
                f"Failed to read content of existing file: {path}",
                ErrorType.READ_CONTENT_FAILURE,
                lazy("Failed to read content of file. It is not a text file."),
            )
        return self._plan_edits(current, current.text, params, corrected)

    def _plan_edits(
        self, current: CurrentFile, text: TextFile, params: ReplaceParams, corrected: str | None
    ) -> FileChange:
        path = current.location.path
        found = self._find_edits(current, text, params, corrected)
        if params.old_string == params.new_string:
            reason = lazy("No changes to apply. The old_string and new_string are identical")
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, join_lazy("", (reason, ".")))
        # The text of the user is the whole file and ends as they want it to.
        is_exact = params.modified_by_user or not found.corrections
        edits = settle_final_newline(text, found.edits, is_exact=is_exact)
        change = plan_edits(current, text, edits, proposed=params.ai_proposed_content)
        if change is None:
            reason = lazy("No changes to apply. The new content is identical to the current content")
            raise _failure(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, join_lazy("", (reason, ".")))
        written = (edit.text for edit in edits)
        if not params.modified_by_user and (elision := find_elision_failure(change, written, "new_string")):
            raise elision
        if not found.corrections:
            return change
        change = replace(change, replacements=found.count)
        return replace(change, note=self._correction_note(current, text, change, found))

    def _find_edits(
        self, current: CurrentFile, text: TextFile, params: ReplaceParams, corrected: str | None
    ) -> EditMatch:
        """Find the edits. Raises ToolFailure if there are none, or not as many as expected."""
        request = params.request
        # An edit without a change needs no fuzzy search, nor does the text of the user, which is the whole file.
        is_final = params.modified_by_user or params.old_string == params.new_string
        found = find_edits(text, request, fuzzy=not is_final)
        if isinstance(found, EditMatch):
            return found
        if found.count:
            display = lazy(
                "Failed to edit, expected {expected} occurrences but found {found}.",
                expected=request.expected,
                found=found.count,
            )
            message = f"{display.removesuffix('.')} for old_string in file: {current.location.path}"
            message += self._explain(found, request, current)
            raise _failure(message, ErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH, display)
        edits = [] if corrected is None else find_corrected(text, request, corrected)
        if not edits:
            raise self._not_found_failure(current, text, params, found)
        return EditMatch(edits, len(edits), ("the text that was meant was asked for",))

    def _correction_note(self, current: CurrentFile, text: TextFile, change: FileChange, found: EditMatch) -> str:
        """Describe to the model how its edit was corrected."""
        note = f" old_string does not fit the file as given; it was corrected: {'; '.join(found.corrections)}."
        if not self._may_show_content(current):
            return note
        after = text.encoding.decode(b"".join(change.pieces))
        return f"{note} {describe_changed_lines(text.text, after)}"

    def _explain(self, refused: EditRefusal, request: EditRequest, current: CurrentFile) -> str:
        """Explain a refusal with text of the file, if the model may see it."""
        explanation = explain_refusal(refused, request)
        return explanation if explanation and self._may_show_content(current) else ""

    def _may_show_content(self, current: CurrentFile) -> bool:
        """Check that the model has read the file or is allowed to."""
        if self._workspace.read_tracker.has_seen(current.real_path):
            return True
        if is_secret_file(current.real_path):
            return False
        rules_of = partial(self._workspace.ignore_rules, git=False)
        return find_ignore_verdict(self._workspace.roots, current, rules_of) is IgnoreStatus.NOT_IGNORED

    def _not_found_failure(
        self, current: CurrentFile, text: TextFile, params: ReplaceParams, refused: EditRefusal
    ) -> "_TextNotFound":
        nearest = self._explain(refused, params.request, current)
        failure = _TextNotFound(current.location.path, self._other_files_hint(current, params.old_string) + nearest)
        # The content of a file that the session has not read is not sent to the corrector.
        is_known = self._corrections is not None and self._workspace.read_tracker.has_seen(current.real_path)
        is_final = params.modified_by_user or params.old_string == params.new_string
        if is_known and not is_final and is_correctable(current.real_path, text, params.old_string):
            failure.edit_failure = EditFailure(
                path=current.location.path,
                content=normalize_line_endings(text.text),
                old_string=params.old_string,
                new_string=params.new_string,
                instruction=params.instruction,
                problem=failure.message,
            )
        return failure

    def _other_files_hint(self, current: CurrentFile, old: str) -> str:
        """Name other files the model has read that contain the text: models mix files up."""
        text = normalize_line_endings(old)
        if len(text.strip()) < _MIN_DISTINCTIVE_LENGTH:
            return ""
        holding = self._workspace.read_tracker.paths_containing(text.encode("utf-8", "surrogateescape"))
        others = [path for path in holding if path != current.real_path][:_MAX_OTHER_FILES]
        return f" The exact text stands in another file that was read: {', '.join(others)}." if others else ""


class _TextNotFound(ToolFailure):
    """The text is not in the file. `edit_failure` is set if the corrector may be asked."""

    def __init__(self, path: str, nearest: str) -> None:
        super().__init__(
            f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in "
            "old_string was not found. Ensure you're not escaping content incorrectly and check whitespace, "
            f"indentation, and context. Use read_file tool to verify.{nearest}",
            ErrorType.EDIT_NO_OCCURRENCE_FOUND,
            display=lazy("Error: Failed to edit, could not find the string to replace."),
        )
        self.edit_failure: EditFailure | None = None


def _snippet(text: str) -> str:
    first_line = text.split("\n", 1)[0][:_SNIPPET_LENGTH]
    return first_line + ("..." if len(text) > _SNIPPET_LENGTH else "")


def _failure(message: str, error_type: ErrorType, display: str) -> ToolFailure:
    return ToolFailure(message, error_type, display=lazy("Error: {what}", what=display))


def _translate_read_error(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            message = f"Failed to read content of existing file: {path}. {error.message}"
            return _failure(message, error.error_type, lazy("Failed to read content of file."))
        case ErrorType.FILE_WRITE_FAILURE:
            return _failure(f"Error preparing edit: {error.message}", ErrorType.EDIT_PREPARATION_FAILURE, error.message)
        case _:
            return error


def _translate_write_error(error: WorkspaceError) -> ToolFailure:
    if error.error_type is not ErrorType.FILE_WRITE_FAILURE:
        return error
    display = lazy("Error writing file: {why}", why=error.message)
    return _failure(f"Error executing edit: {error.message}", error.error_type, display)

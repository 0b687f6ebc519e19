"""Planned changes to one file, applied exactly as shown. Shared by `write_file`, `replace` and `save_memory`."""

import hashlib
import os
from collections.abc import Callable, Sequence

from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.tools.base import ToolContext
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.tools.files.content_write import write_content
from tejat.tools.files.current_file import CurrentFile, find_real_path
from tejat.workspace.context import Workspace
from tejat.workspace.files.atomic_write import ExpectedFile
from tejat.workspace.files.roots import Location
from tejat.workspace.text.diff import Patch, count_diff_stat, create_patch, create_patch_from_edits
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import EditedContent, TextEdit, TextFile

MAX_DISPLAY_BYTES = 2**20
"""Larger contents are omitted from diffs and confirmations, which then have only the patch."""


class FileChange(Frozen):
    """A change that is planned and not yet applied.

    `before`, `after` and `stat` are None for large contents. `note` tells the model how the change differs from its
    request.
    """

    current: CurrentFile
    pieces: Sequence[bytes | memoryview]
    patch: Patch
    before: str | None = None
    after: str | None = None
    stat: DiffStat | None = None
    replacements: int = 0
    note: str = ""

    @property
    def is_new_file(self) -> bool:
        return not self.current.exists

    @property
    def name(self) -> str:
        return os.path.basename(self.current.location.path)

    @property
    def digest(self) -> str:
        """Hash of the path and the new content."""
        state = hashlib.sha256(os.fsencode(self.current.real_path) + b"\0")
        for piece in self.pieces:
            state.update(piece)
        return state.hexdigest()

    def confirmation(self, title: str) -> EditConfirmation:
        return EditConfirmation(
            title=title,
            file_name=self.name,
            file_path=self.current.location.path,
            file_diff=self.patch.text,
            original_content=None if self.is_new_file else self.before,
            new_content=self.after,
            diff_stat=self.stat,
            digest=self.digest,
            proposal=self,
        )

    def display(self, old_header: str, new_header: str) -> FileDiff:
        return FileDiff(
            file_name=self.name,
            file_path=self.current.location.path,
            file_diff=self.patch.with_headers(old_header=old_header, new_header=new_header),
            is_new_file=self.is_new_file,
            original_content=None if self.is_new_file else self.before,
            new_content=self.after,
            diff_stat=self.stat,
        )


def plan_rewrite(current: CurrentFile, content: str, *, proposed: str | None = None) -> FileChange:
    """Plan to replace the whole content, keeping the encoding and line endings of the file.

    New files and files that were binary become UTF-8 with `content` as it is. Raises UnencodableCharacter.
    """
    if not current.exists or current.text is None:
        raw = UTF_8.encode_new(content)
        return _build_change(current, [raw], _placeholder(current.original), content, proposed)
    spliced = current.text.replace_content(content)
    if not current.text.encoding.is_wide and max(len(current.text.raw), spliced.size) > MAX_DISPLAY_BYTES:
        return FileChange(current, spliced.pieces, _build_patch(current, current.text, spliced))
    after = _display_text(TextFile(b"".join(spliced.pieces), current.text.encoding))
    return _build_change(current, spliced.pieces, _display_text(current.text), after, proposed)


def plan_edits(
    current: CurrentFile, text: TextFile, edits: list[TextEdit], *, proposed: str | None = None
) -> FileChange | None:
    """Plan edits of a text file; None if they change nothing. Raises UnencodableCharacter."""
    spliced = text.apply_edits(edits)
    if not spliced.edits:
        return None
    small = max(len(text.raw), spliced.size) <= MAX_DISPLAY_BYTES
    if text.encoding.is_wide or small:
        before, after = _display_text(text), _display_text(TextFile(b"".join(spliced.pieces), text.encoding))
        return _build_change(current, spliced.pieces, before, after, proposed, replacements=len(edits))
    return FileChange(current, spliced.pieces, _build_patch(current, text, spliced), replacements=len(edits))


def apply_change(
    workspace: Workspace,
    location: Location,
    context: ToolContext,
    plan: Callable[[], FileChange],
    stop: Callable[[], None],
    *,
    is_private: bool = False,
) -> tuple[FileChange, str]:
    """Apply the approved change, or else the one that `plan` returns now. A new file may be private to the user.

    Returns the change, and its side effects as further sentences for the model. The file is locked meanwhile, so that
    concurrent changes do not overwrite each other. Raises WorkspaceError (STALE_FILE if the file changed since the
    change was planned), ToolFailure if the approved change is not the planned one or the editor does not write it, and
    whatever `plan` raises.
    """
    real_path = find_real_path(workspace, location)
    with workspace.read_tracker.lock(real_path):
        approved = context.approved.proposal if context.approved else None
        change = approved if isinstance(approved, FileChange) else plan()
        if context.approved is not None and context.approved.digest != change.digest:
            raise _approval_mismatch(location.path)
        if change.current.real_path != real_path:
            raise _path_retargeted(location.path)
        side_effects = write_content(
            workspace,
            replace(change.current, location=location),
            change.pieces,
            stop,
            is_private=is_private,
            keep_replaced=context.keep_replaced,
        )
    return change, side_effects


def _placeholder(original: ExpectedFile | None) -> str:
    """Return the line that stands for content that cannot be shown."""
    if original is None:
        return ""
    return "[binary content]\n" if original.content is not None else f"[{original.status.st_size} bytes, not shown]\n"


def _approval_mismatch(path: str) -> ToolFailure:
    message = lazy("The change differs from the one you approved, so nothing was written: {path}", path=path)
    return ToolFailure(message, ErrorType.EXECUTION_FAILED)


def _path_retargeted(path: str) -> WorkspaceError:
    message = lazy("{path} now points to a different file, so nothing was written. Read it again first.", path=path)
    return WorkspaceError(message, ErrorType.STALE_FILE, path=path)


def _build_change(
    current: CurrentFile,
    pieces: Sequence[bytes | memoryview],
    before: str,
    after: str,
    proposed: str | None,
    *,
    replacements: int = 0,
) -> FileChange:
    """Build a change from both contents. `proposed` is the model's content if the user modified it."""
    name = os.path.basename(current.location.path)
    patch = create_patch(name, before, after, old_header="Current", new_header="Proposed")
    if max(len(before), len(after)) > MAX_DISPLAY_BYTES:
        return FileChange(current, pieces, patch, replacements=replacements)
    stat = count_diff_stat(before, after if proposed is None else proposed, after)
    return FileChange(current, pieces, patch, before, after, stat, replacements)


def _display_text(text: TextFile) -> str:
    """Show line endings only if they are mixed."""
    shown = text.text
    if "\r" not in shown:
        return shown
    if "\n" not in shown:
        return shown.replace("\r", "\n")
    alike = shown.count("\r\n") == shown.count("\n") == shown.count("\r")
    return shown.replace("\r\n", "\n") if alike else shown


def _build_patch(current: CurrentFile, text: TextFile, spliced: EditedContent) -> Patch:
    def decode(raw: bytes) -> str:
        shown = text.encoding.decode(raw)
        return shown.replace("\r\n", "\n") if text.line_ending == "\r\n" else shown

    name = os.path.basename(current.location.path)
    return create_patch_from_edits(
        name, text.raw, spliced.edits, decode=decode, old_header="Current", new_header="Proposed"
    )

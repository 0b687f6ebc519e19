"""Planned changes to one file, applied exactly as shown. Shared by `write_file`, `replace` and `save_memory`."""

import hashlib
import os
from collections.abc import Callable, Sequence

from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.i18n import lazy
from tejat.core.tools.base import ToolContext
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.workspace.context import Workspace
from tejat.workspace.files.atomic_write import ExpectedFile, FileWriteResult, write_atomically
from tejat.workspace.files.roots import Location
from tejat.workspace.text.diff import Patch, count_diff_stat, create_patch, create_patch_from_edits
from tejat.workspace.text.encoding import UTF_8, detect_encoding
from tejat.workspace.text.text_edits import EditedContent, TextEdit, TextFile

MAX_DISPLAY_BYTES = 2**20
"""Larger contents are omitted from diffs and confirmations, which then have only the patch."""

MAX_DIFF_CHARACTERS = 10_000
"""Limit for a diff included in an error message."""

MAX_FILE_BYTES = 256 * 2**20
"""Limit for a file to edit: its old and new content are both held in memory."""


@frozen
class CurrentFile:
    """A file on disk that is about to change.

    `original` is None for a missing file, `text` for a binary one and for one whose content was not read.
    """

    location: Location
    real_path: str
    original: ExpectedFile | None
    text: TextFile | None


@frozen
class FileChange:
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
        return self.current.original is None

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


def read_current(workspace: Workspace, location: Location, *, needs_content: bool = True) -> CurrentFile:
    """Read the file at a location without changing anything.

    A file over MAX_FILE_BYTES is not read; if the change `needs_content`, it is an error. Raises WorkspaceError; with
    STALE_FILE if the file changed since the session last read it, with a diff if the old
    content is known.
    """
    real_path = _real_path(workspace, location)
    try:
        with workspace.roots.open_file(location) as file:
            is_large = file.status.st_size > MAX_FILE_BYTES
            if is_large and needs_content:
                raise _too_large(location.path, file.status.st_size)
            raw = None if is_large else file.read_all()
            status = os.fstat(file.fd)
    except WorkspaceError as error:
        if error.error_type is not ErrorType.FILE_NOT_FOUND:
            raise
        return CurrentFile(location, real_path, None, TextFile(b"", UTF_8))
    try:
        workspace.read_tracker.check_unchanged(real_path, status, raw)
    except WorkspaceError as error:
        if raw is None:
            raise
        raise _with_diff(error, location, workspace.read_tracker.last_content(real_path), raw) from error
    if raw is None:
        return CurrentFile(location, real_path, ExpectedFile(None, status), None)
    encoding = detect_encoding(raw, whole=True)
    text = None if encoding is None else TextFile(raw, encoding)
    return CurrentFile(location, real_path, ExpectedFile(raw, status), text)


def plan_rewrite(current: CurrentFile, content: str, *, proposed: str | None = None) -> FileChange:
    """Plan to replace the whole content, keeping the encoding and line endings of the file.

    New files and files that were binary become UTF-8 with `content` as it is. Raises UnencodableCharacter.
    """
    if current.original is None or current.text is None:
        raw = UTF_8.encode_new(content)
        return _build_change(current, [raw], _placeholder(current.original), content, proposed)
    spliced = current.text.replace_content(content)
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
) -> tuple[FileChange, FileWriteResult]:
    """Apply the approved change, or else the one that `plan` returns now. A new file may be private to the user.

    The file is locked meanwhile, so that concurrent changes do not overwrite each other. Raises WorkspaceError
    (STALE_FILE if the file changed since the change was planned), ToolFailure if the approved change is not the planned
    one, and whatever `plan` raises.
    """
    real_path = _real_path(workspace, location)
    with workspace.read_tracker.lock(real_path):
        approved = context.approved.proposal if context.approved else None
        change = approved if isinstance(approved, FileChange) else plan()
        if context.approved is not None and context.approved.digest != change.digest:
            raise _approval_mismatch(location.path)
        current = change.current
        if current.real_path != real_path:
            raise _path_retargeted(location.path)
        written = write_atomically(
            workspace.roots, location, change.pieces, expected=current.original, stop=stop, is_private=is_private
        )
        workspace.read_tracker.record_write(current.real_path, written.status, change.pieces)
    return change, written


def describe_side_effects(written: FileWriteResult) -> str:
    """Describe side effects for the model in further sentences."""
    if written.broke_hard_link:
        return " The file had other hard links; they still hold the old content."
    return ""


def _real_path(workspace: Workspace, location: Location) -> str:
    """Resolve all links of a path; the file itself need not exist."""
    with workspace.roots.open_parent(location, create=False) as parent:
        return os.path.join(parent.location.root.real_path, parent.location.relative)


def _with_diff(error: WorkspaceError, location: Location, seen: bytes | None, now: bytes) -> WorkspaceError:
    before = None if seen is None else detect_encoding(seen, whole=True)
    after = detect_encoding(now, whole=True)
    if seen is None or before is None or after is None:
        return error
    name = os.path.basename(location.path)
    patch = create_patch(name, before.decode(seen), after.decode(now), old_header="Last read", new_header="Now")
    if len(patch.text) > MAX_DIFF_CHARACTERS:
        return error
    message = f"{error.message}\nWhat has changed since:\n{patch.text}"
    return WorkspaceError(message, error.error_type, path=error.path, display=error.display)


def _placeholder(original: ExpectedFile | None) -> str:
    """Return the line that stands for content that cannot be shown."""
    if original is None:
        return ""
    return "[binary content]\n" if original.content is not None else f"[{original.status.st_size} bytes, not shown]\n"


def _too_large(path: str, size: int) -> WorkspaceError:
    limit = MAX_FILE_BYTES // 2**20
    message = lazy(
        "File is too large to be edited: {path} ({size:.2f}MB, at most {limit}MB). write_file can overwrite it.",
        path=path,
        size=size / 2**20,
        limit=limit,
    )
    return WorkspaceError(message, ErrorType.FILE_TOO_LARGE, path=path)


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

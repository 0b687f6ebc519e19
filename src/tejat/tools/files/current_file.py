"""The present content of a file that is about to change: on disk, or unsaved in the editor."""

import os
from collections.abc import Callable

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.context import Workspace
from tejat.workspace.files.atomic_write import ExpectedFile
from tejat.workspace.files.editor.buffer_text import encode_buffer, is_misread, normalize_text
from tejat.workspace.files.editor.buffers import BufferStatus, SavedContent
from tejat.workspace.files.roots import Location
from tejat.workspace.text.encoding import UTF_8, detect_encoding
from tejat.workspace.text.text_edits import TextFile
from tejat.workspace.threads.stop import never_stop

MAX_DIFF_CHARACTERS = 10_000
"""Limit for a diff included in a message."""

MAX_FILE_BYTES = 256 * 2**20
"""Limit for a file to edit: its old and new content are both held in memory."""


class CurrentFile(Frozen):
    """A file that is about to change.

    `original` is None for a file that is not on disk. `text` is what is edited, None for a binary file and for one
    whose content was not read. `unsaved` is the text of the editor if it has unsaved changes, and then `text` too.
    """

    location: Location
    real_path: str
    original: ExpectedFile | None
    text: TextFile | None
    unsaved: str | None = None

    @property
    def exists(self) -> bool:
        """Whether there is something to change, if only in the editor."""
        return self.original is not None or self.unsaved is not None

    @property
    def saved(self) -> SavedContent | None:
        """The content on disk, None if there is none or it was not read."""
        if self.original is None or self.original.content is None:
            return None
        return SavedContent(bytes(self.original.content), self.original.status.st_mtime_ns)


def read_current(
    workspace: Workspace, location: Location, *, needs_content: bool = True, stop: Callable[[], None] = never_stop
) -> CurrentFile:
    """Read the file at a location without changing anything.

    A file over MAX_FILE_BYTES is not read; if the change `needs_content`, it is an error. `stop` is called while the
    editor is asked. Raises WorkspaceError; with STALE_FILE if the file changed since the session last read it, with a
    diff if the old content is known. Raises ToolFailure if the editor does not answer.
    """
    on_disk = _read_from_disk(workspace, location, needs_content=needs_content)
    current = _add_unsaved_text(workspace, on_disk, stop)
    if not current.exists:
        return current
    status = None if current.original is None else current.original.status
    raw = b"" if current.original is None else current.original.content
    try:
        workspace.read_tracker.check_unchanged(current.real_path, status, raw, unsaved=current.unsaved)
    except WorkspaceError as error:
        raise _with_diff(error, current, workspace.read_tracker.last_content(current.real_path)) from error
    return current


def find_real_path(workspace: Workspace, location: Location) -> str:
    """Resolve all links of a path; the file itself need not exist. Raises WorkspaceError."""
    with workspace.roots.open_parent(location, create=False) as parent:
        return os.path.join(parent.location.root.real_path, parent.location.relative)


def _read_from_disk(workspace: Workspace, location: Location, *, needs_content: bool) -> CurrentFile:
    real_path = find_real_path(workspace, location)
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
    encoding = None if raw is None else detect_encoding(raw, whole=True)
    text = None if raw is None or encoding is None else TextFile(raw, encoding)
    return CurrentFile(location, real_path, ExpectedFile(raw, status), text)


def _add_unsaved_text(workspace: Workspace, current: CurrentFile, stop: Callable[[], None]) -> CurrentFile:
    """Replace the text by that of the editor if it has unsaved changes. Raises WorkspaceError if they cannot be saved.

    Binary and very large files are not asked about.
    """
    location, saved = current.location, current.saved
    buffers = None if current.text is None else workspace.buffers_for(location)
    if buffers is None:
        return current
    buffer = buffers.read(location, current.real_path, saved, stop)
    if buffer.status is not BufferStatus.UNSAVED:
        return current
    if not buffers.can_write:
        raise _unsaved_changes(location.path, lazy("The editor does not accept changes."))
    if saved is not None and is_misread(buffer.text, saved.raw):
        raise _unsaved_changes(location.path, lazy("The editor cannot show all of its characters."))
    return CurrentFile(
        location, current.real_path, current.original, TextFile(*encode_buffer(buffer.text)), buffer.text
    )


def _with_diff(error: WorkspaceError, current: CurrentFile, seen: bytes | None) -> WorkspaceError:
    before = None if seen is None else detect_encoding(seen, whole=True)
    if seen is None or before is None or current.text is None:
        return error
    old, new = before.decode(seen), current.text.text
    if normalize_text(old) != normalize_text(new):
        # The editor may show other line endings than the file has.
        old, new = normalize_text(old), normalize_text(new)
    elif current.unsaved is not None:
        return _extended(error, lazy("It has changed on disk, and the editor has unsaved changes of it."))
    from tejat.workspace.text.diff import create_patch

    name = os.path.basename(current.location.path)
    patch = create_patch(name, old, new, old_header="Last read", new_header="Now")
    if len(patch.text) > MAX_DIFF_CHARACTERS:
        return error
    return _extended(error, f"What has changed since:\n{patch.text}")


def _extended(error: WorkspaceError, more: str) -> WorkspaceError:
    return WorkspaceError(f"{error.message}\n{more}", error.error_type, path=error.path, display=error.display)


def _unsaved_changes(path: str, why: str) -> WorkspaceError:
    message = lazy(
        "The file has unsaved changes in the editor: {path}. {why} Ask the user to save or discard them.",
        path=path,
        why=why,
    )
    return WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path)


def _too_large(path: str, size: int) -> WorkspaceError:
    limit = MAX_FILE_BYTES // 2**20
    message = lazy(
        "File is too large to be edited: {path} ({size:.2f}MB, at most {limit}MB). write_file can overwrite it.",
        path=path,
        size=size / 2**20,
        limit=limit,
    )
    return WorkspaceError(message, ErrorType.FILE_TOO_LARGE, path=path)

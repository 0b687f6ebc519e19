"""Text of an editor with unsaved changes, which a read returns instead of the file on disk."""

from collections.abc import Callable

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen
from tejat.tools.files.current_file import find_real_path
from tejat.workspace.context import Workspace
from tejat.workspace.files.editor.buffer_text import BOM
from tejat.workspace.files.editor.buffers import MAX_BUFFER_BYTES, Buffers, BufferStatus, SavedContent
from tejat.workspace.files.handles.open_file import Location, OpenFile


def read_unsaved(
    workspace: Workspace, buffers: Buffers, file: OpenFile, head: bytes, stop: Callable[[], None]
) -> str | None:
    """Return the text of an open file and record that it was read, None if it has no unsaved changes.

    `head` are the first bytes of the file, or all.
    """
    status = file.status
    if status.st_size > MAX_BUFFER_BYTES:
        return None
    raw = head if len(head) == status.st_size else file.read_all()
    buffer = buffers.read(file.location, file.real_path, SavedContent(raw, status.st_mtime_ns), stop)
    if buffer.status is not BufferStatus.UNSAVED:
        return None
    workspace.read_tracker.record_unsaved(file.real_path, status, raw, buffer.text)
    return buffer.text.removeprefix(BOM)


class NewFile(Frozen):
    """A file that is only in the editor."""

    location: Location
    real_path: str


def read_new(
    workspace: Workspace,
    buffers: Buffers,
    location: Location,
    stop: Callable[[], None],
    check: Callable[[NewFile], None],
) -> str | None:
    """Return the text of a file that is only in the editor and record that it was read, None if there is none.

    `check` may refuse the file before it is read.
    """
    try:
        file = NewFile(location, find_real_path(workspace, location))
    except WorkspaceError:
        return None
    check(file)
    buffer = buffers.read(location, file.real_path, None, stop)
    if buffer.status is not BufferStatus.UNSAVED:
        return None
    workspace.read_tracker.record_unsaved(file.real_path, None, b"", buffer.text)
    return buffer.text.removeprefix(BOM)

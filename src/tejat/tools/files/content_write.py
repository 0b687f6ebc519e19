"""Writing of new content: by the editor where it loses nothing, else to the disk."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.tools.files.current_file import MAX_DIFF_CHARACTERS, CurrentFile
from tejat.workspace.context import Workspace
from tejat.workspace.files.atomic_write import ExpectedFile, prepare_replacement, write_atomically
from tejat.workspace.files.editor.buffer_text import has_same_text, normalize_text, shown_text
from tejat.workspace.files.editor.buffers import MAX_BUFFER_BYTES, Buffer, Buffers, BufferStatus
from tejat.workspace.files.read_tracker import stat_identity
from tejat.workspace.text.diff import create_patch
from tejat.workspace.text.encoding import UnencodableCharacter, detect_encoding
from tejat.workspace.text.text_edits import TextFile

KeepReplaced = Callable[[str, bytes], None]
"""Takes the real path and the content of a file that undo restores instead of the content on disk."""

_SAVE_SECONDS = 1.0
"""How long after its answer an editor may need to save a file."""
_POLL_SECONDS = 0.05

_HARD_LINK_NOTE = " The file had other hard links; they still hold the old content."
_UNSAVED_NOTE = " The unsaved changes that the user had in the editor were saved with it."
_NOT_SAVED_NOTE = " The editor shows the new text, but has not saved the file."
_CHANGED_NOTE = " The editor changed the text when it saved the file"


def write_content(
    workspace: Workspace,
    current: CurrentFile,
    pieces: Sequence[bytes | memoryview],
    stop: Callable[[], None],
    *,
    is_private: bool = False,
    keep_replaced: KeepReplaced,
) -> str:
    """Replace the content of a file and record it as seen. Returns side effects for the model as further sentences.

    Unsaved text of the editor that is replaced is first passed to `keep_replaced`. Raises WorkspaceError as
    `write_atomically` does, with STALE_FILE also if the text of the editor has changed; ToolFailure if the editor does
    not answer or refuses.
    """
    buffers = None if is_private else workspace.buffers_for(current.location)
    text = None if buffers is None else _find_editor_text(buffers, current, pieces, stop)
    if buffers is not None and text is not None:
        return _EditorWrite(workspace, buffers, current, b"".join(pieces), text).run(stop, keep_replaced)
    written = write_atomically(
        workspace.roots, current.location, pieces, expected=current.original, stop=stop, is_private=is_private
    )
    workspace.read_tracker.record_write(current.real_path, written.status, pieces)
    return _HARD_LINK_NOTE if written.broke_hard_link else ""


def _find_editor_text(
    buffers: Buffers, current: CurrentFile, pieces: Sequence[bytes | memoryview], stop: Callable[[], None]
) -> str | None:
    """Return the text for the editor, None if the content has to be written to the disk.

    Raises WorkspaceError(STALE_FILE) if the text of the editor is not the one that the change is based on.
    """
    if current.text is None:
        return None
    buffer = buffers.read(current.location, current.real_path, current.saved, stop)
    if current.unsaved is not None:
        if buffer.text != current.unsaved:
            raise _stale_buffer(current.location.path)
        return b"".join(pieces).decode()
    if buffer.status is BufferStatus.UNSAVED:
        raise _stale_buffer(current.location.path)
    if not buffers.can_write or not _may_write(current, buffer) or sum(map(len, pieces)) > MAX_BUFFER_BYTES:
        return None
    return shown_text(b"".join(pieces), buffer.form)


def _may_write(current: CurrentFile, buffer: Buffer) -> bool:
    """Whether the editor would keep the encoding and the links of a file that it has not changed."""
    location = current.location
    is_utf8 = current.text is not None and current.text.encoding.codec == "utf-8"
    is_link = current.real_path != os.path.join(location.root.real_path, location.relative)
    return is_utf8 and not is_link and buffer.status is not BufferStatus.OUTDATED


class _EditorWrite(Frozen):
    """A write by the editor: `raw` is the new content, and `text` what the editor gets."""

    workspace: Workspace
    buffers: Buffers
    current: CurrentFile
    raw: bytes
    text: str

    def run(self, stop: Callable[[], None], keep_replaced: KeepReplaced) -> str:
        current, roots = self.current, self.workspace.roots
        was_seen = current.original is None or self.workspace.read_tracker.has_seen(current.real_path)
        with prepare_replacement(roots, current.location, current.original):
            if current.unsaved is not None:
                keep_replaced(current.real_path, _encode_unsaved(current, current.unsaved))
            stop()
            self.buffers.write(current.location, self.text, stop)
        on_disk = self._wait_until_saved()
        note = _UNSAVED_NOTE if current.unsaved is not None else ""
        if on_disk is None or not self._is_saved(on_disk):
            return note + self._confirm_unsaved(on_disk, stop)
        if not self._is_as_sent(on_disk):
            on_disk = self._restore_bytes(on_disk)
        if self._is_as_sent(on_disk):
            self._record(on_disk)
            return note + self._hard_link_note(on_disk)
        return note + self._hard_link_note(on_disk) + self._explain_difference(on_disk, was_seen=was_seen)

    def _wait_until_saved(self) -> ExpectedFile | None:
        """Read the file, None if it does not exist. An editor that answers before it has saved gets a moment."""
        deadline = time.monotonic() + _SAVE_SECONDS
        on_disk = self._read_disk()
        while time.monotonic() < deadline and (on_disk is None or not self._is_as_sent(on_disk)):
            time.sleep(_POLL_SECONDS)
            before, on_disk = on_disk, self._read_disk()
            if before is None or on_disk is None or not self._is_saved(on_disk):
                continue
            if stat_identity(before.status) == stat_identity(on_disk.status):
                break  # it is not being written any more
        return on_disk

    def _read_disk(self) -> ExpectedFile | None:
        try:
            with self.workspace.roots.open_file(self.current.location) as file:
                return ExpectedFile(file.read_all(), os.fstat(file.fd))
        except WorkspaceError as error:
            if error.error_type is ErrorType.FILE_NOT_FOUND:
                return None
            raise

    def _is_saved(self, on_disk: ExpectedFile) -> bool:
        """Whether the editor has written something."""
        original = self.current.original
        is_touched = original is None or stat_identity(original.status) != stat_identity(on_disk.status)
        return is_touched or self._is_as_sent(on_disk)

    def _is_as_sent(self, on_disk: ExpectedFile) -> bool:
        """Whether the file has the new content; of unsaved text only the editor knows encoding and line endings."""
        if self.current.unsaved is None:
            return on_disk.content == self.raw
        return on_disk.content is not None and has_same_text(self.text, bytes(on_disk.content))

    def _confirm_unsaved(self, on_disk: ExpectedFile | None, stop: Callable[[], None]) -> str:
        """Accept that the editor shows the text without having saved it. Raises WorkspaceError if it does not."""
        current, location = self.current, self.current.location
        buffer = self.buffers.read(location, current.real_path, current.saved, stop)
        is_shown = normalize_text(buffer.text) == normalize_text(self.text)
        if buffer.status is not BufferStatus.UNSAVED or not is_shown:
            message = lazy("The editor accepted the new text of {path}, but did not save it.", path=location.path)
            raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=location.path)
        status = None if on_disk is None else on_disk.status
        raw = b"" if current.saved is None else current.saved.raw
        self.workspace.read_tracker.record_unsaved(current.real_path, status, raw, buffer.text)
        return _NOT_SAVED_NOTE

    def _restore_bytes(self, on_disk: ExpectedFile) -> ExpectedFile:
        """Write the file again if the editor changed nothing but its encoding or line endings."""
        current = self.current
        expected = self.raw.decode("utf-8")
        raw = bytes(on_disk.content or b"")
        is_same = has_same_text(expected, raw) or has_same_text(self.text, raw)
        if current.unsaved is not None or not is_same:
            return on_disk
        with suppress(WorkspaceError):  # it has changed again, or only the editor may write it
            write_atomically(self.workspace.roots, current.location, [self.raw], expected=on_disk)
        return self._read_disk() or on_disk

    def _record(self, on_disk: ExpectedFile) -> None:
        raw = bytes(on_disk.content or b"")
        self.workspace.read_tracker.record_write(self.current.real_path, on_disk.status, (raw,))
        self.buffers.record_saved(self.current.real_path, self.text)

    def _explain_difference(self, on_disk: ExpectedFile, *, was_seen: bool) -> str:
        """Describe what the editor saved instead; if that is not possible, the file has to be read again."""
        raw = bytes(on_disk.content or b"")
        encoding = detect_encoding(raw, whole=True)
        if encoding is not None and was_seen:
            name = os.path.basename(self.current.location.path)
            sent, saved = normalize_text(self.text), normalize_text(encoding.decode(raw))
            patch = create_patch(name, sent, saved, old_header="Sent", new_header="Saved")
            if len(patch.text) <= MAX_DIFF_CHARACTERS:
                self._record(on_disk)
                self.buffers.record_saved(self.current.real_path, saved)
                return f"{_CHANGED_NOTE}:\n{patch.text}"
        # The model does not know the content, so it counts as changed.
        self.workspace.read_tracker.record_write(self.current.real_path, on_disk.status, (self.raw,))
        return f"{_CHANGED_NOTE}. Read it again before you change it."

    def _hard_link_note(self, on_disk: ExpectedFile) -> str:
        original = self.current.original
        if original is None or original.status.st_nlink == 1 or original.status.st_ino == on_disk.status.st_ino:
            return ""
        return _HARD_LINK_NOTE


def _encode_unsaved(current: CurrentFile, unsaved: str) -> bytes:
    """Return unsaved text as the editor would save it: in the encoding and with the line endings of the file."""
    if current.saved is None:
        return unsaved.encode()
    encoding = detect_encoding(current.saved.raw, whole=True)
    if encoding is None:
        return unsaved.encode()
    try:
        return b"".join(TextFile(current.saved.raw, encoding).replace_content(unsaved).pieces)
    except UnencodableCharacter:
        return unsaved.encode()


def _stale_buffer(path: str) -> WorkspaceError:
    message = lazy(
        "The file has changed in the editor since it was read, so nothing was written: {path}. Read it again first.",
        path=path,
    )
    return WorkspaceError(message, ErrorType.STALE_FILE, path=path)

"""What the editor has of the files of a workspace."""

import threading
import time
from collections.abc import Callable
from enum import Enum

from tejat.core.agent.editor import EditorBuffers
from tejat.core.frozen import Frozen
from tejat.workspace.files.editor.buffer_text import PLAIN_FORM, TextForm, find_form, is_valid_text, text_digest
from tejat.workspace.files.roots import Location, Roots

MAX_BUFFER_BYTES = 8 << 20
"""The editor is not asked about larger files: their text must fit into one message."""

_RELOAD_SECONDS = 1.0
"""How long an editor may take to notice that a file has changed on disk."""
_POLL_SECONDS = 0.05
_MAX_RECORDS = 10_000


class BufferStatus(Enum):
    """How the text of the editor relates to the file on disk."""

    UNKNOWN = 0
    """The editor does not know the file."""
    OUTDATED = 1
    """The file has changed on disk, and the editor has not reloaded it yet."""
    SAVED = 2
    UNSAVED = 3


class Buffer(Frozen):
    """The editor's copy of a file. `text` is there if it is UNSAVED, and `form` says how a SAVED file is shown."""

    status: BufferStatus
    text: str = ""
    form: TextForm = PLAIN_FORM


UNKNOWN_BUFFER = Buffer(BufferStatus.UNKNOWN)
_OUTDATED_BUFFER = Buffer(BufferStatus.OUTDATED)


class SavedContent(Frozen):
    """The content of a file on disk, and when it was last changed, in nanoseconds since the epoch."""

    raw: bytes
    modified: int


class Buffers:
    """The buffers of the editor for the files of a workspace. Thread-safe.

    The methods raise ToolFailure if the editor does not answer. Files are identified by their real path, and the editor
    is asked with the path as the user spells it.
    """

    def __init__(self, editor: EditorBuffers) -> None:
        self._editor = editor
        self._guard = threading.Lock()
        self._saved_digests: dict[str, bytes] = {}

    @property
    def can_write(self) -> bool:
        return self._editor.can_write

    def covers(self, roots: Roots, location: Location) -> bool:
        """Whether the editor may be asked about a file: one of a workspace directory that the editor has open.

        Plans and files that can only be read are always read from the disk.
        """
        return location.root in roots.directories and self._editor.covers(location.path)

    def read(self, location: Location, real_path: str, saved: SavedContent | None, stop: Callable[[], None]) -> Buffer:
        """Compare the text of the editor with the file on disk, None if there is none.

        If the file has changed a moment ago, the editor gets the time to reload it.
        """
        if not self._editor.can_read or (saved is not None and len(saved.raw) > MAX_BUFFER_BYTES):
            return UNKNOWN_BUFFER
        while True:
            buffer = self._compare(self._editor.read(location.path, stop), real_path, saved)
            is_fresh = saved is not None and 0 <= time.time_ns() - saved.modified < _RELOAD_SECONDS * 1e9
            if buffer.status is not BufferStatus.UNSAVED or not is_fresh:
                return buffer
            stop()
            time.sleep(_POLL_SECONDS)

    def write(self, location: Location, text: str, stop: Callable[[], None]) -> None:
        """Let the editor replace the text of a file and save it. Raises ToolFailure if it refuses."""
        self._editor.write(location.path, text, stop)

    def record_saved(self, real_path: str, text: str) -> None:
        """Record that the editor shows this text and has saved it."""
        with self._guard:
            self._saved_digests.pop(real_path, None)
            self._saved_digests[real_path] = text_digest(text)
            if len(self._saved_digests) > _MAX_RECORDS:
                del self._saved_digests[next(iter(self._saved_digests))]

    def _compare(self, text: str | None, real_path: str, saved: SavedContent | None) -> Buffer:
        if text is None or not is_valid_text(text) or (not text and saved is None):
            return UNKNOWN_BUFFER
        form = None if saved is None else find_form(text, saved.raw)
        if form is not None:
            self.record_saved(real_path, text)
            return Buffer(BufferStatus.SAVED, form=form)
        if not text:
            # Some editors answer so for files that they cannot read.
            return _OUTDATED_BUFFER
        with self._guard:
            is_outdated = saved is not None and self._saved_digests.get(real_path) == text_digest(text)
            if not is_outdated:
                self._saved_digests.pop(real_path, None)
        return _OUTDATED_BUFFER if is_outdated else Buffer(BufferStatus.UNSAVED, text)

"""Tracking of file contents seen in this session, so that writes over other changes are refused."""

import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.digest import sha256

MAX_HASHED_BYTES = 32 << 20
MAX_KEPT_BYTES = 64 << 10


class ReadTracker:
    """The last seen state of each file, and a lock for each. Thread-safe.

    Files are identified by their real path (the kernel's view, so all spellings of a file share one record), not by
    inode: a replaced file gets a new inode and stays the same file. When there are more than `max_records`, the oldest
    records are dropped; such files count as never seen.
    """

    def __init__(self, *, max_records: int = 10_000, max_kept_bytes: int = 4 << 20) -> None:
        """`max_kept_bytes` limits the total size of the contents kept for `last_content`."""
        self._max_records = max_records
        self._max_kept_bytes = max_kept_bytes
        self._guard = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._kept: dict[str, bytes] = {}
        self._kept_size = 0
        self._locks: dict[str, _SharedLock] = {}

    def record_read(self, path: str, status: os.stat_result, raw: bytes | memoryview) -> None:
        """Record that the whole content `raw` was read from a descriptor with this status."""
        self.record_write(path, status, (raw,))

    def record_unsaved(self, path: str, status: os.stat_result | None, raw: bytes, text: str) -> None:
        """Record the text of an editor that was read instead of the content `raw` on disk; no status if it is new."""
        encoded = text.encode()
        identity = None if status is None else stat_identity(status)
        record = _Record(identity, _digest((raw,)), _text_digest(text))
        with self._guard:
            self._put(path, record, encoded if len(encoded) <= MAX_KEPT_BYTES else None)

    def record_partial_read(self, path: str, status: os.stat_result) -> None:
        """Record that only part of the file was read."""
        with self._guard:
            known = self._records.get(path)
            if known is None or known.identity != stat_identity(status):
                self._put(path, _Record(stat_identity(status), digest=None), kept=None)

    def record_write(self, path: str, status: os.stat_result, pieces: Sequence[bytes | memoryview]) -> None:
        """Record that this session wrote `pieces` as the file's content; `status` is the new file's."""
        size = sum(map(len, pieces))
        digest = _digest(pieces) if size <= MAX_HASHED_BYTES else None
        kept = b"".join(pieces) if size <= MAX_KEPT_BYTES else None
        with self._guard:
            self._put(path, _Record(stat_identity(status), digest), kept)

    def check_unchanged(
        self,
        path: str,
        status: os.stat_result | None,
        raw: bytes | memoryview | None,
        *,
        unsaved: str | None = None,
    ) -> None:
        """Raise WorkspaceError(STALE_FILE) if the file differs from its last seen state. Files never seen pass.

        The content decides. If it is unknown, then or now (`raw` None), device, inode, size and both times do. Where an
        editor has `unsaved` text, both that and the content on disk must be as they were; text that has been saved
        since is the same.
        """
        with self._guard:
            known = self._records.get(path)
        if known is not None and not known.matches(status, raw, unsaved):
            message = lazy(
                "The file has changed since it was last read: {path}. Read it again with read_file first.", path=path
            )
            raise WorkspaceError(message, ErrorType.STALE_FILE, path=path)

    def has_seen(self, path: str) -> bool:
        """Whether this session has read or written the file."""
        with self._guard:
            return path in self._records

    def last_content(self, path: str) -> bytes | None:
        """Return the last seen content if it was small and is still kept, to show what changed since."""
        with self._guard:
            return self._kept.get(path)

    def paths_containing(self, content: bytes) -> list[str]:
        """Return the files whose kept content contains these bytes."""
        with self._guard:
            return [path for path, kept in self._kept.items() if content in kept]

    @contextmanager
    def lock(self, path: str) -> Generator[None]:
        """Hold a file from reading to writing. Not reentrant."""
        with self._guard:
            shared = self._locks.setdefault(path, _SharedLock())
            shared.users += 1
        try:
            with shared.lock:
                yield
        finally:
            with self._guard:
                shared.users -= 1
                if not shared.users:
                    del self._locks[path]

    def _put(self, path: str, record: "_Record", kept: bytes | None) -> None:
        self._records.pop(path, None)
        self._drop_kept(path)
        self._records[path] = record
        if len(self._records) > self._max_records:
            oldest = next(iter(self._records))
            del self._records[oldest]
            self._drop_kept(oldest)
        if kept is not None:
            self._kept[path] = kept
            self._kept_size += len(kept)
            while self._kept_size > self._max_kept_bytes:
                self._drop_kept(next(iter(self._kept)))

    def _drop_kept(self, path: str) -> None:
        self._kept_size -= len(self._kept.pop(path, b""))


def stat_identity(status: os.stat_result) -> tuple[int, int, int, int, int]:
    """Return the stat fields that change with any change of a file, as far as its timestamps can tell."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class _Record(Frozen):
    """`identity` is None for a file that is not on disk yet, `unsaved` for one that an editor had not changed."""

    identity: tuple[int, int, int, int, int] | None
    digest: bytes | None
    unsaved: bytes | None = None

    def matches(self, status: os.stat_result | None, raw: bytes | memoryview | None, unsaved: str | None) -> bool:
        if self.unsaved != (None if unsaved is None else _text_digest(unsaved)):
            if unsaved is not None or self.unsaved is None or raw is None:
                return False
            return _has_digest(bytes(raw), self.unsaved)
        if self.digest is None or raw is None:
            return self.identity == (None if status is None else stat_identity(status))
        return self.digest == _digest((raw,))


class _SharedLock:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0


def _digest(pieces: Sequence[bytes | memoryview]) -> bytes:
    return sha256(*pieces).digest()


def _text_digest(text: str) -> bytes:
    from tejat.workspace.files.editor.buffer_text import text_digest

    return text_digest(text)


def _has_digest(raw: bytes, digest: bytes) -> bool:
    from tejat.workspace.files.editor.buffer_text import has_digest

    return has_digest(raw, digest)

"""Remembers what this session has seen of files, so that a write over somebody else's change is refused."""

import hashlib
import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy

MAX_HASHED_BYTES = 32 << 20
MAX_KEPT_BYTES = 64 << 10


class ReadTracker:
    """What was last seen of each file, and a lock for each. Any thread may call anything.

    Files are known by their real path (the kernel's view, so that all spellings of a file are one record), not by
    inode: a file that is replaced gets a new inode and stays the same file, and an old number soon means another one.
    The oldest records go first when there are more than `max_records`, and then a file counts as never seen.
    """

    def __init__(self, *, max_records: int = 10_000, max_kept_bytes: int = 4 << 20) -> None:
        """`max_kept_bytes` is how many bytes of old content are held in all for `last_content`."""
        self._max_records = max_records
        self._max_kept_bytes = max_kept_bytes
        self._guard = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._kept: dict[str, bytes] = {}
        self._kept_size = 0
        self._locks: dict[str, _SharedLock] = {}

    def record_read(self, path: str, status: os.stat_result, raw: bytes | memoryview) -> None:
        """The whole content was read: `raw`, with the status of the descriptor that it was read from."""
        self._remember(path, status, (raw,))

    def record_partial_read(self, path: str, status: os.stat_result) -> None:
        """Some of the file was read, and the rest was too much to look at."""
        with self._guard:
            known = self._records.get(path)
            if known is None or known.identity != stat_identity(status):
                self._put(path, _Record(stat_identity(status), digest=None), kept=None)

    def record_write(self, path: str, status: os.stat_result, pieces: Sequence[bytes | memoryview]) -> None:
        """This session made `pieces`, one after the other, the content of the file; `status` is the new file's."""
        self._remember(path, status, pieces)

    def check_unchanged(self, path: str, status: os.stat_result, raw: bytes | memoryview | None) -> None:
        """Raises WorkspaceError(STALE_FILE) if the file is not as it was last seen. A file never seen is fine.

        The content decides. Where it is not known, then or now (`raw` None), device, inode, size and both times do.
        """
        with self._guard:
            known = self._records.get(path)
        if known is None:
            return
        if known.digest is None or raw is None:
            same = known.identity == stat_identity(status)
        else:
            same = known.digest == _digest((raw,))
        if not same:
            message = gettext_lazy(
                "The file has changed since it was last read: {path}. Read it again with read_file first.", path=path
            )
            raise WorkspaceError(message, ErrorType.STALE_FILE, path=path)

    def has_seen(self, path: str) -> bool:
        """Whether this session has read the file, or made it what it is."""
        with self._guard:
            return path in self._records

    def last_content(self, path: str) -> bytes | None:
        """The content that was last seen, if it was small and is still held: for showing what has changed since."""
        with self._guard:
            return self._kept.get(path)

    def paths_containing(self, content: bytes) -> list[str]:
        """The files in which this stood when they were last seen, of those whose content is still held."""
        with self._guard:
            return [path for path, kept in self._kept.items() if content in kept]

    @contextmanager
    def lock(self, path: str) -> Generator[None]:
        """Hold a file from reading to writing. Others who ask for the same path wait; it is not reentrant."""
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

    def _remember(self, path: str, status: os.stat_result, pieces: Sequence[bytes | memoryview]) -> None:
        size = sum(map(len, pieces))
        digest = _digest(pieces) if size <= MAX_HASHED_BYTES else None
        kept = b"".join(pieces) if size <= MAX_KEPT_BYTES else None
        with self._guard:
            self._put(path, _Record(stat_identity(status), digest), kept)

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
    """What changes when anything about a file changes, as far as the clock of the file system can tell."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@frozen
class _Record:
    identity: tuple[int, int, int, int, int]
    digest: bytes | None


class _SharedLock:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0


def _digest(pieces: Sequence[bytes | memoryview]) -> bytes:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return state.digest()

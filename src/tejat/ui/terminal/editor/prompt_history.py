"""Prompt history of a project, in a private file."""

import json
import os
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

from tejat.core.i18n import _
from tejat.core.text.secret_mask import mask_tokens
from tejat.workspace.files.file_lock import try_lock
from tejat.workspace.files.private_files import make_private_directory, open_private_file, write_private_file
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_ENTRIES = 1000
_COMPACT_BYTES = 4 * 1024 * 1024
_LONG_ENTRY_CHARS = 100_000
"""Longer entries, mostly pastes, are kept in memory only."""
_MAX_LONG_ENTRIES = 10
_LOGIN_WITH_KEY = re.compile(r"\s*/(?:login|auth)\s+(?:\S+\s+\S|\S{16})", re.IGNORECASE)
_LOCK_SECONDS = 2.0
_LOCK_PAUSE_SECONDS = 0.005


class PromptHistory:
    """Typed entries in order, in a file that processes may share; without one they last as long as the process.

    Tokens of well-known shapes are masked in the file, and a key typed after `/login` is not kept at all.
    """

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._entries: list[str] | None = None
        self._problem: str | None = None

    @property
    def entries(self) -> Sequence[str]:
        """At most a thousand entries, newest last, without consecutive duplicates."""
        if self._entries is None:
            self._entries = self._read()
        return self._entries

    @property
    def problem(self) -> str | None:
        """Why the history is not saved, None if it is."""
        if self._entries is None:
            self._entries = self._read()
        return self._problem

    def add(self, entry: str) -> None:
        """Add an entry. Never raises: an unusable file only disables saving."""
        entries = list(self.entries)
        if not entry.strip() or (entries and entries[-1] == entry) or _LOGIN_WITH_KEY.match(entry):
            return
        self._entries = _drop_old_long([*entries, entry])[-_MAX_ENTRIES:]
        if self._path is None or self._problem is not None or len(entry) > _LONG_ENTRY_CHARS:
            return
        try:
            self._append(self._path, mask_tokens(entry))
        except OSError as error:
            self._disable(error)

    def _append(self, path: str, entry: str) -> None:
        make_private_directory(os.path.dirname(path))
        line = json.dumps(entry).encode("ascii") + b"\n"
        with _open_locked(path) as descriptor:
            # An unfinished line of a killed process must not swallow this one.
            size = os.lseek(descriptor, 0, os.SEEK_END)
            is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" + line if is_cut else line)
            if size + len(line) > _COMPACT_BYTES or _read_tail(descriptor).count(b"\n") > 2 * _MAX_ENTRIES:
                _compact(path, descriptor)

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            descriptor = regular_file_opener(self._path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                return _parse_recent(_read_tail(descriptor))
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._disable(error)
            return []

    def _disable(self, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        self._problem = _("Prompt history is off: {path}: {why}.", path=self._path, why=why)


def _drop_old_long(entries: list[str]) -> list[str]:
    old = [at for at, entry in enumerate(entries) if len(entry) > _LONG_ENTRY_CHARS][:-_MAX_LONG_ENTRIES]
    return [entry for at, entry in enumerate(entries) if at not in old]


def _parse_recent(content: bytes) -> list[str]:
    entries: list[str] = []
    for entry in _parse_entries(content):
        if not entries or entries[-1] != entry:
            entries.append(entry)
    return entries[-_MAX_ENTRIES:]


def _parse_entries(content: bytes) -> Iterator[str]:
    for line in content.split(b"\n"):
        with suppress(ValueError, RecursionError):
            entry: object = json.loads(line)
            if isinstance(entry, str) and entry.strip():
                yield entry


def _read_tail(descriptor: int) -> bytes:
    """Return the last few megabytes; more is never written."""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, 2 * _COMPACT_BYTES, max(size - 2 * _COMPACT_BYTES, 0))


def _compact(path: str, descriptor: int) -> None:
    """Replace the file by one with the current entries. Processes waiting for the old one reopen it."""
    lines = b"".join(json.dumps(entry).encode("ascii") + b"\n" for entry in _parse_recent(_read_tail(descriptor)))
    write_private_file(path, lines, follow_symlinks=False)


@contextmanager
def _open_locked(path: str) -> Generator[int]:
    """Open the file for reading and appending with a lock. Raises OSError after a timeout."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        descriptor = open_private_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            if try_lock(descriptor) and _is_same_file(path, os.fstat(descriptor)):
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            raise OSError(0, _("another program has locked it"))
        time.sleep(_LOCK_PAUSE_SECONDS)


def _is_same_file(path: str, status: os.stat_result) -> bool:
    """Whether the path still names this file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), status)
    except FileNotFoundError:
        return False

"""Placeholders that keep control paths from being created while a sandboxed command runs.

A mount needs a mount point, so each placeholder appears in the real root for as long as a command runs. It is an empty
directory even where a file is meant, because version control does not see empty directories; the exceptions are files
whose text means the same as no file.
"""

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from tejat.core.frozen import Frozen
from tejat.workspace.files.private_files import make_private_directory

_RELEASE_SECONDS: Final = 0.2
_POLL_SECONDS: Final = 0.001
_FILE_TIME_GRANULARITY: Final = 2_000_000_000
# Where we cannot create anything, the command cannot either.
_NOT_WRITABLE_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)


class MountPlaceholders:
    """Placeholders recorded in `state`, so that after a crash the next process removes them.

    Several processes may share the state. A record is in use while it is locked: by its creator (flock) or by the
    sandbox that relies on it (fcntl, which bubblewrap's --lock-file takes).
    """

    def __init__(self, state: str) -> None:
        self._directory = os.path.join(state, "ghosts")

    @contextmanager
    def lock_existing(self) -> Generator[Mapping[str, int]]:
        """Lock the state and yield the paths of existing placeholders, each with a time before its creation.

        Raises OSError when the state cannot be read or written.
        """
        with self._locked():
            yield self._remove_unlocked()

    def create(self, texts: Mapping[str, str | None], existing: Mapping[str, int]) -> "PlaceholderSet":
        """Create a file with the given text, or an empty directory, at each path; its parent must exist.

        Call it inside `lock_existing`. Existing placeholders are shared. Paths that cannot be created are left out.
        Raises OSError when the state or a directory cannot be written.
        """
        if not texts:
            return PlaceholderSet(self, None, -1, ())
        now = time.time_ns() - _FILE_TIME_GRANULARITY
        placeholders = [_Placeholder(path, text, existing.get(path, now)) for path, text in texts.items()]
        record, descriptor = self._write_record(placeholders)
        try:
            made = tuple(placeholder.path for placeholder in placeholders if _create(placeholder))
        except OSError:
            os.close(descriptor)
            self._remove_unlocked()
            raise
        return PlaceholderSet(self, record, descriptor, made)

    def sweep(self) -> None:
        """Remove placeholders that nothing relies on any more. Raises OSError when the state cannot be accessed."""
        if os.path.isdir(self._directory):
            with self._locked():
                self._remove_unlocked()

    def is_locked(self, record: str) -> bool:
        """Return whether something still relies on this record."""
        try:
            descriptor = os.open(record, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return True
        finally:
            os.close(descriptor)
        return False

    @contextmanager
    def _locked(self) -> Generator[None]:
        if not os.path.isdir(self._directory):
            make_private_directory(self._directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(os.path.join(self._directory, "lock"), flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write_record(self, placeholders: list["_Placeholder"]) -> tuple[str, int]:
        record = os.path.join(self._directory, f"{os.urandom(8).hex()}.json")
        descriptor = os.open(record, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            entries = [[each.path, each.text, each.since] for each in placeholders]
            os.write(descriptor, json.dumps(entries).encode())
        except OSError:
            os.close(descriptor)
            raise
        return record, descriptor

    def _remove_unlocked(self) -> dict[str, int]:
        """Remove unlocked records with their placeholders and return the remaining ones. Needs the lock."""
        living: dict[str, int] = {}
        dead: list[_Placeholder] = []
        gone: list[str] = []
        for record in self._records():
            placeholders = _read_record(record)
            if self.is_locked(record):
                living |= {placeholder.path: placeholder.since for placeholder in placeholders}
            else:
                dead += placeholders
                gone.append(record)
        for placeholder in dead:
            if placeholder.path not in living:
                _remove(placeholder)
        for record in gone:
            with suppress(FileNotFoundError):
                os.unlink(record)
        return living

    def _records(self) -> Iterator[str]:
        for name in os.listdir(self._directory):
            if name.endswith(".json"):
                yield os.path.join(self._directory, name)


class PlaceholderSet:
    """Placeholders of one command. `record` is the file whose lock keeps them, None if there are none."""

    def __init__(
        self, placeholders: MountPlaceholders, record: str | None, descriptor: int, paths: tuple[str, ...]
    ) -> None:
        self.record = record
        self.paths = paths
        self._placeholders = placeholders
        self._descriptor = descriptor

    def detach(self) -> None:
        """Leave the placeholders to a sandbox that still runs; a later sweep removes them."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def release(self) -> None:
        """Remove the placeholders that only this command relied on. Raises nothing and may be called again.

        A sandbox that still runs after a short wait keeps them, as after `detach`.
        """
        if self.record is None or self._descriptor < 0:
            return
        self.detach()
        with suppress(OSError):
            # The kernel tears a sandbox down shortly after its first process has ended.
            until = time.monotonic() + _RELEASE_SECONDS
            while self._placeholders.is_locked(self.record) and time.monotonic() < until:
                time.sleep(_POLL_SECONDS)
            self._placeholders.sweep()


class _Placeholder(Frozen):
    """One placeholder: `text` is None for a directory, `since` is a time before its creation in nanoseconds."""

    path: str
    text: str | None
    since: int


def _create(placeholder: _Placeholder) -> bool:
    try:
        if placeholder.text is None:
            os.mkdir(placeholder.path, 0o700)
        else:
            descriptor = os.open(placeholder.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, placeholder.text.encode())
            finally:
                os.close(descriptor)
    except FileExistsError:
        return stat.S_ISDIR(os.lstat(placeholder.path).st_mode) is (placeholder.text is None)
    except OSError as error:
        if error.errno in _NOT_WRITABLE_ERRORS:
            return False
        raise
    return True


def _read_record(record: str) -> list[_Placeholder]:
    try:
        with open(record, "rb") as file:
            entries: list[tuple[str, str | None, int]] = json.loads(file.read())
    except (OSError, ValueError):
        return []
    return [_Placeholder(*entry) for entry in entries]


def _remove(placeholder: _Placeholder) -> None:
    """Remove the placeholder if it is unchanged: not older, and empty or with its own text."""
    with suppress(OSError):
        if os.lstat(placeholder.path).st_mtime_ns < placeholder.since:
            return
        if placeholder.text is None:
            os.rmdir(placeholder.path)
            return
        descriptor = os.open(placeholder.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            is_unchanged = os.read(descriptor, len(placeholder.text) + 1) == placeholder.text.encode()
        finally:
            os.close(descriptor)
        if is_unchanged:
            os.unlink(placeholder.path)

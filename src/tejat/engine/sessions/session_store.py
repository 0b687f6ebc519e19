"""The stored sessions of a project: list, find, resume, delete and prune them."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tejat.config.paths import project_key
from tejat.config.settings.types import DEFAULT_RETENTION, SessionRetention
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.engine.plans.storage import PlanStorage
from tejat.engine.sessions.journal import SUFFIX, Clock, SessionJournal, journal_name_ending, try_lock
from tejat.engine.sessions.journal_format import decode_record
from tejat.workspace.files.private_files import open_private_file
from tejat.workspace.files.regular_file import regular_file_opener

if TYPE_CHECKING:
    from tejat.engine.sessions.journal_reader import LoadedSession

LATEST = "latest"

_HOUR = 60 * 60
_DAY = 24 * _HOUR
_USUAL_HEAD_BYTES = 2 << 10
_MAX_HEAD_BYTES = 64 << 10
_MAX_LISTED = 5
_READ_ONLY_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)


class SessionSummary(Frozen):
    """A session in the list. `title` is the beginning of the first prompt, on one line, unsanitised.

    `number` counts from 1; the most recently used session of the project has the highest. `root` is the project's
    directory, empty if the journal does not name it. Times are seconds since 1970.
    """

    number: int
    session_id: str
    path: str
    title: str
    model: str
    started: float
    modified: float
    size: int
    root: str = ""


def list_all_sessions(directory: str) -> list[SessionSummary]:
    """List the sessions of all projects in the directory of a `SessionStore`, most recent last. Raises nothing."""
    projects: list[str] = []
    with suppress(OSError), os.scandir(directory) as entries:
        projects = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    found = chain.from_iterable(map(_list_directory, projects))
    return sorted(found, key=lambda entry: (entry.modified, entry.path))


class Sessions(Protocol):
    """A place where sessions are created, found and resumed: files of the project, or a storage of the program."""

    def create(self, *, session_id: str, model: str) -> SessionJournal: ...

    def has(self, session_id: str) -> bool: ...

    def find(self, word: str) -> SessionSummary: ...

    def resume(self, entry: SessionSummary) -> tuple[SessionJournal, LoadedSession]: ...

    def prune(self) -> None: ...


class SessionStore:
    """The sessions of the project in `root`, in a subdirectory of `directory` that is created on demand.

    All methods but `list_sessions` and `prune` raise UsageError for a session that cannot be used.
    """

    def __init__(
        self,
        directory: str,
        root: str,
        retention: SessionRetention = DEFAULT_RETENTION,
        *,
        plans: PlanStorage | None = None,
        max_bytes: int = 1 << 30,
        secrets: Sequence[str] = (),
        now: Clock = time.time,
    ) -> None:
        """`prune` enforces the retention, and `max_bytes` for all projects together.

        `secrets` are masked in journals. `plans` has the plan files, which are deleted with their session.
        """
        self._root = os.path.realpath(root)
        self._sessions_directory = directory
        self._directory = os.path.join(self._sessions_directory, project_key(self._root))
        self._retention = retention
        self._plans = plans
        self._max_bytes = max_bytes
        self._secrets = tuple(secrets)
        self._now = now

    def create(self, *, session_id: str, model: str) -> SessionJournal:
        return SessionJournal.create(
            self._directory, session_id=session_id, root=self._root, model=model, secrets=self._secrets, now=self._now
        )

    def has(self, session_id: str) -> bool:
        ending = journal_name_ending(session_id)
        same = (file for file in _journal_files(self._directory) if file[0].endswith(ending) and file[1].st_size)
        return any(_read_summary(1, *file).session_id == session_id for file in same)

    def list_sessions(self) -> list[SessionSummary]:
        """List the sessions, most recent last. Only the first line of each is read. Raises nothing."""
        return _list_directory(self._directory)

    def find(self, word: str) -> SessionSummary:
        """Return the session for "latest", a number of the list, an id or the beginning of one."""
        entries = self.list_sessions()
        if not entries:
            raise UsageError(_("No sessions in this project."))
        if word == LATEST:
            return entries[-1]
        by_number = {str(entry.number): entry for entry in entries}
        if word in by_number:
            return by_number[word]
        matches = [entry for entry in entries if entry.session_id == word]
        matches = matches[-1:] or [entry for entry in entries if word and entry.session_id.startswith(word)]
        if len(matches) == 1:
            return matches[0]
        word, names = sanitize_text(word), _format_sessions(matches or entries)
        if matches:
            raise UsageError(_("{word} matches more than one session: {matches}.", word=word, matches=names))
        raise UsageError(_("No session {word!r} in this project. Sessions: {entries}.", word=word, entries=names))

    def load(self, entry: SessionSummary) -> LoadedSession:
        """Read a conversation without resuming it."""
        from tejat.engine.sessions.journal_reader import read_journal

        try:
            descriptor = _open_journal(entry.path, os.O_RDONLY)
            try:
                return read_journal(descriptor, session_id=entry.session_id)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unusable_error(entry, error) from None

    def resume(self, entry: SessionSummary) -> tuple[SessionJournal, LoadedSession]:
        """Return the journal to continue and the conversation. The session is locked until the journal is closed.

        If the file is read-only, the session continues unrecorded; see the `failure` of the journal.
        """
        from tejat.engine.sessions.journal_reader import read_journal

        try:
            descriptor = _open_journal(entry.path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            if error.errno not in _READ_ONLY_ERRORS:
                raise _unusable_error(entry, error) from None
            loaded = self.load(entry)
            return SessionJournal.read_only(loaded.session_id, entry.path, error), loaded
        try:
            _lock_journal(descriptor)
            loaded = read_journal(descriptor, session_id=entry.session_id)
            journal = SessionJournal.reopen(
                loaded.session_id, entry.path, descriptor, secrets=self._secrets, now=self._now
            )
        except OSError as error:
            os.close(descriptor)
            raise _unusable_error(entry, error) from None
        except BaseException:
            os.close(descriptor)
            raise
        return journal, loaded

    def delete(self, entry: SessionSummary) -> None:
        """Delete a session and its plan files, unless it is in use."""
        try:
            _remove(entry.path)
        except OSError as error:
            raise _unusable_error(entry, error) from None
        try:
            self._delete_plans(os.path.dirname(entry.path), entry.session_id)
        except OSError as error:
            path, reason = sanitize_text(str(error.filename)), error.strerror
            raise UsageError(
                _("The session was deleted, but its plan files were not: {path}: {reason}.", path=path, reason=reason)
            ) from None

    def prune(self) -> None:
        """Delete sessions of all projects that are too old or too large in total, unless in use. Raises nothing.

        Their plan files go with them, and so do old plan files of sessions that were not saved. Runs at most once an
        hour, because there can be very many sessions.
        """
        now = self._now()
        with suppress(OSError):
            if not _is_prune_due(os.path.join(self._sessions_directory, "tidied"), now):
                return
            with os.scandir(self._sessions_directory) as entries:
                directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            for path in self._expired_files({directory: _journal_files(directory) for directory in directories}, now):
                with suppress(OSError):
                    session_id = "" if self._plans is None else _read_summary(0, path, os.lstat(path)).session_id
                    _remove(path)
                    self._delete_plans(os.path.dirname(path), session_id)
            for directory in directories:
                with suppress(OSError):
                    os.rmdir(directory)
            self._prune_plans(now)

    def _delete_plans(self, directory: str, session_id: str) -> None:
        """Delete the plan files of a deleted session, unless another journal continues it. Raises OSError."""
        project = os.path.basename(directory)
        if self._plans is None or not os.path.lexists(self._plans.path(project, session_id)):
            return
        if not any(entry.session_id == session_id for entry in _list_directory(directory)):
            self._plans.remove(project, session_id)

    def _prune_plans(self, now: float) -> None:
        """Delete old plan files that belong to no session. Raises nothing."""
        plans, days = self._plans, self._retention.max_days
        if plans is None or days is None:
            return
        before = now - days * _DAY
        for project in plans.projects():
            if plans.old_names(project, before=before):
                entries = _list_directory(os.path.join(self._sessions_directory, project))
                plans.remove_orphans(project, {entry.session_id for entry in entries}, before=before)

    def _expired_files(self, files: Mapping[str, list[_File]], now: float) -> list[str]:
        """The journals that are not kept, of those in each directory."""
        retention = self._retention
        oldest = 0 if retention.max_days is None else now - retention.max_days * _DAY
        youngest = now - retention.min_days * _DAY
        expired: dict[str, None] = {}
        if retention.max_count is not None:
            for directory, journals in files.items():
                # The session that is about to start counts too.
                others = retention.max_count - (directory == self._directory)
                surplus = sorted(journals, key=_last_change, reverse=True)[others:]
                expired |= dict.fromkeys(path for path, status in surplus if status.st_mtime < youngest)
        kept = 0
        for path, status in sorted(chain.from_iterable(files.values()), key=_last_change, reverse=True):
            kept += status.st_size
            if status.st_mtime < oldest or kept > self._max_bytes:
                expired[path] = None
        return list(expired)


_File: TypeAlias = tuple[str, os.stat_result]


def _list_directory(directory: str) -> list[SessionSummary]:
    """List the sessions of one project, most recent last. Raises nothing."""
    files = sorted((file for file in _journal_files(directory) if file[1].st_size), key=_last_change)
    return [_read_summary(number, path, status) for number, (path, status) in enumerate(files, 1)]


def _journal_files(directory: str) -> list[_File]:
    """List the journals in a directory with their status. Raises nothing."""
    files: list[_File] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        files.append((entry.path, status))
    return files


def _last_change(file: _File) -> tuple[int, str]:
    path, status = file
    return status.st_mtime_ns, path


def _read_summary(number: int, path: str, status: os.stat_result) -> SessionSummary:
    """Read the first line of a journal, with the file's own data as a fallback."""
    try:
        head = decode_record(_first_line(path))
        session_id, model = head.string("session"), head.string("model")
        title = head.string_or_none("title") or ""
        started, root = head.number("at"), head.string_or_none("root") or ""
    except (OSError, ValueError):
        session_id, title, model, root = os.path.basename(path)[_STAMP_LENGTH:].removesuffix(SUFFIX), "", "", ""
        started = status.st_mtime
    return SessionSummary(number, session_id, path, title, model, started, status.st_mtime, status.st_size, root)


_STAMP_LENGTH = len("2026-01-31T23-59-59-")


def _first_line(path: str) -> bytes:
    """Raises OSError."""
    descriptor = _open_journal(path, os.O_RDONLY)
    try:
        line, is_whole, _rest = os.pread(descriptor, _USUAL_HEAD_BYTES, 0).partition(b"\n")
        return line if is_whole else os.pread(descriptor, _MAX_HEAD_BYTES, 0).partition(b"\n")[0]
    finally:
        os.close(descriptor)


def _open_journal(path: str, flags: int) -> int:
    """Open a regular file without following links or blocking. Raises OSError."""
    return regular_file_opener(path, flags | os.O_NOFOLLOW)


def _lock_journal(descriptor: int) -> None:
    """Raises OSError if the session is in use or was deleted meanwhile."""
    if not try_lock(descriptor):
        raise OSError(errno.EBUSY, _("it is open in another process"))
    if not os.fstat(descriptor).st_nlink:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _remove(path: str) -> None:
    """Raises OSError, also if the session is in use."""
    try:
        descriptor = _open_journal(path, os.O_RDONLY)
    except PermissionError:
        # A journal that cannot be read is not in use: its writer could read it.
        os.unlink(path)
        return
    try:
        _lock_journal(descriptor)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _is_prune_due(stamp: str, now: float) -> bool:
    """Whether an hour has passed since the last run; updates its time stamp. Raises OSError."""
    with suppress(FileNotFoundError):
        if abs(now - os.lstat(stamp).st_mtime) < _HOUR:
            return False
    os.close(open_private_file(stamp, os.O_WRONLY | os.O_CREAT))
    os.utime(stamp, (now, now))
    return True


def _unusable_error(entry: SessionSummary, error: OSError) -> UsageError:
    session, reason = sanitize_text(entry.session_id), error.strerror or error
    return UsageError(_("Cannot open session {session}: {reason}.", session=session, reason=reason))


def _format_sessions(entries: Sequence[SessionSummary]) -> str:
    """Format the last few sessions with their numbers."""
    names = [
        _("{session} (number {number})", session=sanitize_text(entry.session_id), number=entry.number)
        for entry in entries[-_MAX_LISTED:]
    ]
    more = [f"{len(entries) - _MAX_LISTED} others"] if len(entries) > _MAX_LISTED else []
    return ", ".join([*names, *more])

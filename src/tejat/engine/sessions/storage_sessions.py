"""Sessions in a storage of the embedding program, instead of files."""

import threading
import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import cast
from weakref import WeakValueDictionary

from tejat.core.agent.storage import SessionConflict, SessionStorage
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.engine.sessions.journal import Clock, SessionJournal
from tejat.engine.sessions.journal_format import RecordKind
from tejat.engine.sessions.journal_reader import LoadedSession, load_session
from tejat.engine.sessions.session_store import LATEST, SessionSummary


class StorageSessions:
    """The sessions in a storage; implements `Sessions`. What it raises while it is searched and read is raised too."""

    def __init__(
        self,
        storage: SessionStorage,
        root: str,
        *,
        secrets: Sequence[str],
        now: Clock = time.time,
    ) -> None:
        """`secrets` are masked. `root` is the directory that new sessions work in."""
        self._storage = storage
        self._root = root
        self._secrets = tuple(secrets)
        self._now = now

    def create(self, *, session_id: str, model: str) -> SessionJournal:
        head = {
            "kind": RecordKind.SESSION,
            "at": round(self._now(), 3),
            "session": session_id,
            "root": self._root,
            "model": model,
        }
        return StoredJournal(self._storage, session_id, head, secrets=self._secrets, now=self._now)

    def has(self, session_id: str) -> bool:
        return session_id in _checked_texts(self._storage.session_ids(), "session_ids")

    def find(self, word: str) -> SessionSummary:
        """Return the session for "latest", a number, an id or the beginning of one. Raises UsageError."""
        known = _checked_texts(self._storage.session_ids(), "session_ids")
        if not known:
            raise UsageError(_("There are no sessions in the storage."))
        if word == LATEST:
            return self._summary(len(known), known[-1])
        numbered = list(enumerate(known, 1))
        matches = [each for each in numbered if word in (each[1], str(each[0]))]
        matches = matches[-1:] or [each for each in numbered if word and each[1].startswith(word)]
        if len(matches) != 1:
            names = sanitize_text(", ".join(name for _number, name in (matches or numbered)[-5:]))
            message = (
                _("{word} matches more than one session: {matches}.", word=sanitize_text(word), matches=names)
                if matches
                else _("No session {word!r} in the storage. Sessions: {entries}.", word=word, entries=names)
            )
            raise UsageError(message)
        return self._summary(*matches[0])

    def resume(self, entry: SessionSummary) -> tuple[SessionJournal, LoadedSession]:
        """Return the journal to continue and the conversation. It is locked in this process until it is closed.

        Raises UsageError if another agent of this process has it open.
        """
        session_id = entry.session_id
        resumed = {"kind": RecordKind.RESUMED, "at": round(self._now(), 3)}
        journal = StoredJournal(self._storage, session_id, resumed, secrets=self._secrets, now=self._now)
        try:
            lines = [
                f"{line}\n".encode("utf-8", "surrogatepass")
                for line in _checked_texts(self._storage.read(session_id), "read")
            ]
            journal.position = len(lines)
            return journal, load_session(lines, session_id=session_id)
        except BaseException:
            journal.close()
            raise

    def prune(self) -> None:
        """Delete nothing: the program decides what it keeps."""

    def _summary(self, number: int, session_id: str) -> SessionSummary:
        return SessionSummary(number, session_id, "", "", "", 0.0, 0.0, 0, self._root)


class StoredJournal(SessionJournal):
    """A journal whose lines go to a storage. `position` is the number of lines that it has there."""

    def __init__(
        self, storage: SessionStorage, session_id: str, first: JsonObject, *, secrets: Sequence[str], now: Clock
    ) -> None:
        """Raises UsageError if another agent of this process has the session open."""
        super().__init__(session_id, "", pending=[first], secrets=secrets, now=now)
        self.position = 0
        self._storage = storage
        self._has_written = False
        self._key = (id(storage), session_id)
        with _lock:
            if self._key in _open_journals:
                raise UsageError(
                    _("Session {id} is open in another agent of this program. Close that one first.", id=session_id)
                )
            _open_journals[self._key] = self

    def close(self) -> None:
        super().close()
        self._has_written = False
        with _lock:
            if _open_journals.get(self._key) is self:
                del _open_journals[self._key]

    @property
    def _is_open(self) -> bool:
        return self._has_written

    def _append(self, lines: bytes, *, syncs: bool) -> None:
        """Raises ValueError if the storage raises anything."""
        texts = lines.decode("utf-8").removesuffix("\n").split("\n")
        try:
            returned: object = cast("object", self._storage.append(self.session_id, texts, self.position))
        except SessionConflict as error:
            raise ValueError(_("another agent has written to it")) from error
        except Exception as error:
            report_unexpected(error, "the storage of sessions")
            raise ValueError(f"{type(error).__name__}: {error}") from error
        if isinstance(returned, Awaitable):
            raise ValueError(_("`append` of the storage is asynchronous"))
        self.position += len(texts)
        self._has_written = True


_lock = threading.Lock()
_open_journals: WeakValueDictionary[tuple[int, str], StoredJournal] = WeakValueDictionary()
"""The open journals by the identity of their storage and their session. They keep the storage alive."""


class MemoryStorage:
    """A session storage in memory. Agents in several threads may share it."""

    def __init__(self) -> None:
        self._journals: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<MemoryStorage, {len(self._journals)} sessions>"

    def append(self, session_id: str, lines: Sequence[str], position: int) -> None:
        """Append lines. Raises SessionConflict."""
        with self._lock:
            journal = self._journals.get(session_id, [])
            if len(journal) != position:
                raise SessionConflict(f"{session_id} has {len(journal)} lines, not {position}")
            self._journals.pop(session_id, None)  # the last used one is the last
            self._journals[session_id] = [*journal, *lines]

    def read(self, session_id: str) -> Sequence[str]:
        """Return all lines of a session."""
        with self._lock:
            return tuple(self._journals.get(session_id, ()))

    def session_ids(self) -> Sequence[str]:
        """Return the ids of all sessions, the last used one last."""
        with self._lock:
            return tuple(self._journals)


def _checked_texts(given: object, method: str) -> list[str]:
    """What a method of the program's storage returned. Raises TypeError if it is no list of strings."""
    is_several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    items = list(cast("Iterable[object]", given)) if is_several else [None]
    if not all(isinstance(each, str) for each in items):
        raise TypeError(
            f"storage: `{method}` must return a list of strings, not {repr(cast('object', given))[:_MAX_SHOWN]}."
        )
    return cast("list[str]", items)


_MAX_SHOWN = 60

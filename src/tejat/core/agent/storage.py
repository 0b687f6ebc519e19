"""The storage contract: where the journals of sessions are kept."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class SessionStorage(Protocol):
    """Keeps the journals of sessions in another place than files, for `Agent(storage=...)`.

    A journal is a list of lines, each a JSON object, which is only ever appended to. When `append` returns, the lines
    should survive the end of the process. The methods are called in the event loop, one at a time, and should be quick.
    If one raises, the session is no longer stored, and the user gets a notice.
    """

    def append(self, session_id: str, lines: Sequence[str], /) -> None:
        """Append lines to the journal of a session, which begins with them if there is none."""
        ...

    def read(self, session_id: str, /) -> Iterable[str]:
        """Return all lines of a session in order, none if it is unknown."""
        ...

    def session_ids(self) -> Sequence[str]:
        """Return the ids of all sessions, the last used one last."""
        ...


class MemoryStorage:
    """Keeps sessions in memory, as long as the object exists. Several agents may share it, in one event loop."""

    def __init__(self) -> None:
        self._journals: dict[str, list[str]] = {}

    def append(self, session_id: str, lines: Sequence[str]) -> None:
        journal = self._journals.pop(session_id, [])
        self._journals[session_id] = [*journal, *lines]

    def read(self, session_id: str) -> Sequence[str]:
        return tuple(self._journals.get(session_id, ()))

    def session_ids(self) -> Sequence[str]:
        return tuple(self._journals)

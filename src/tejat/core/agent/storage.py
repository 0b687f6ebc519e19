"""The storage contract: where the journals of sessions are kept."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from tejat.core.errors import TejatError


class SessionConflict(TejatError):
    """A session that another agent has written to. Raised by `SessionStorage.append`."""


@runtime_checkable
class SessionStorage(Protocol):
    """A place for the journals of sessions other than files, for `Agent(storage=...)`.

    A journal is a list of lines, each a JSON object, which is only ever appended to. When `append` returns, the lines
    should survive the end of the process.

    The methods are plain functions. An agent calls them one at a time, in the thread of its event loop, which waits for
    them; the loop of a SyncAgent has its own thread. Several agents may share a storage, each in its own thread. If
    `append` raises, the session is no longer saved, and the user gets a notice.
    """

    def append(self, session_id: str, lines: Sequence[str], position: int, /) -> None:
        """Append lines to the journal of a session, which begins with them if there is none.

        `position` is the number of lines that the journal must have before. Compare it and append in one step, so that
        two agents never mix their lines. Raises SessionConflict if the journal has another number of lines.
        """
        ...

    def read(self, session_id: str, /) -> Iterable[str]:
        """Return all lines of a session in order, none if it is unknown."""
        ...

    def session_ids(self) -> Sequence[str]:
        """Return the ids of all sessions, the last used one last."""
        ...

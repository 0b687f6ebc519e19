"""Sessions as the web page lists, opens and looks back at them, implemented by the composition root."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from tejat.core.agent.events import AgentEvent, EventSink
from tejat.core.agent.history.figures import SessionHistory
from tejat.core.agent.history.matches import SessionMatches
from tejat.core.agent.history.totals import HistoryOverview
from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.ui.contract import UiSession


class SessionActivity(StrEnum):
    """What a session does now. The values are those that the page knows."""

    WAITING = "waiting"
    WORKING = "working"
    IDLE = "idle"
    ENDED = "ended"


class SessionEntry(Frozen):
    """A session in the overview.

    `since` is when its present state began, `modified` when anything happened last, in seconds since 1970. `cost` is in
    dollars, None if a price is unknown. `detail` is what it waits for, or why it ended. Only a session with `is_live`
    can be opened with `open_live`.
    """

    session_id: str
    title: str
    folder: str
    activity: SessionActivity
    since: float
    modified: float
    cost: float | None = None
    turns: int = 0
    model: str = ""
    detail: str = ""
    is_live: bool = False


class StoredTranscript(Frozen):
    """A session that has ended. `root` is the folder of its project."""

    entry: SessionEntry
    root: str
    events: Sequence[AgentEvent]


class LiveConnection(Frozen):
    """A running session that a front end is attached to.

    `root` is the folder of its project. With `is_running` a run was in progress. `wait_closed` returns when the session
    has ended or cannot be reached any more.
    """

    session: UiSession
    root: str
    is_running: bool
    wait_closed: Callable[[], Awaitable[object]]


class SessionDirectory(Protocol):
    """All sessions of the user, in all projects."""

    async def list_sessions(self) -> Sequence[SessionEntry]:
        """List running and stored sessions, in any order. Raises nothing."""
        ...

    def open_live(self, session_id: str, listener: EventSink) -> AbstractAsyncContextManager[LiveConnection]:
        """Attach to a running session.

        The listener gets all events of the session so far before the connection is returned, then every new one,
        without a gap. Raises UsageError if there is no such session, or it cannot be reached.
        """
        ...

    async def read_stored(self, session_id: str) -> StoredTranscript:
        """Read a session from its journal. Raises UsageError."""
        ...

    async def read_history(self, session_id: str) -> SessionHistory:
        """The figures and timelines of a session. Raises UsageError."""
        ...

    async def read_overview(self, days: int | None) -> HistoryOverview:
        """The figures of all sessions in the last days, None for all. Raises nothing."""
        ...

    async def search(self, text: str) -> Sequence[SessionMatches]:
        """The sessions in which all words occur, the most recently used first. Raises UsageError."""
        ...

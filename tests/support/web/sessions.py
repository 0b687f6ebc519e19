"""Sessions in this process, for the web page to list and open."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.core.agent.events import AgentEvent, EventSink, Prompted, RunEnded
from tejat.core.agent.history.figures import SessionHistory
from tejat.core.agent.history.matches import SessionMatches
from tejat.core.agent.history.totals import HistoryOverview
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.ui.web.contract import LiveConnection, SessionActivity, SessionEntry, StoredTranscript


@dataclass
class LocalSession:
    """A session with all of its events."""

    session_id: str
    interactive: InteractiveSession
    root: str
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    title: str = ""
    is_running: bool = False
    modified: float = 0.0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.modified = time.time()
        self.interactive.subscribe(self.record)

    def record(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.modified = time.time()
        if isinstance(event, Prompted):
            self.title, self.is_running = self.title or event.display_text, True
        if isinstance(event, RunEnded):
            self.is_running = False

    @property
    def entry(self) -> SessionEntry:
        pending = self.interactive.pending_questions
        activity = SessionActivity.WORKING if self.is_running else SessionActivity.IDLE
        detail = ""
        if pending:
            activity, detail = SessionActivity.WAITING, pending[0].request.confirmation.title
        status = self.interactive.status
        since = pending[0].asked_at if pending else self.modified
        return SessionEntry(
            self.session_id,
            self.title,
            status.folder,
            activity,
            since,
            self.modified,
            status.cost,
            model=status.model,
            detail=detail,
            is_live=True,
        )


class LocalSessions:
    """A `SessionDirectory` of sessions in this process, and of lists of events as stored ones."""

    def __init__(self, history: StoredHistory) -> None:
        self.history = history
        self.live: dict[str, LocalSession] = {}
        self.stored: dict[str, StoredTranscript] = {}
        self.listed = 0

    async def list_sessions(self) -> Sequence[SessionEntry]:
        self.listed += 1
        return [*(each.entry for each in self.live.values()), *(each.entry for each in self.stored.values())]

    @asynccontextmanager
    async def open_live(self, session_id: str, listener: EventSink) -> AsyncGenerator[LiveConnection]:
        if session_id not in self.live:
            raise UsageError(f"There is no running session {session_id}.")
        session = self.live[session_id]
        for event in session.events:
            listener(event)
        unsubscribe = session.interactive.subscribe(listener)
        try:
            yield LiveConnection(session.interactive, session.root, session.is_running, session.closed.wait)
        finally:
            unsubscribe()

    async def read_stored(self, session_id: str) -> StoredTranscript:
        if session_id not in self.stored:
            raise UsageError(f"There is no session {session_id}.")
        return self.stored[session_id]

    async def read_history(self, session_id: str) -> SessionHistory:
        return self.history.session(session_id)

    async def read_overview(self, days: int | None) -> HistoryOverview:
        return self.history.overview(days=days)

    async def search(self, text: str) -> Sequence[SessionMatches]:
        return list(self.history.search(text))

    @asynccontextmanager
    async def session(self, session_id: str, options: AgentOptions) -> AsyncGenerator[LocalSession]:
        """Open a session that is in the list."""
        async with open_interactive_session(options) as interactive:
            self.live[session_id] = LocalSession(session_id, interactive, options.directories[0])
            try:
                yield self.live[session_id]
            finally:
                self.live.pop(session_id).closed.set()

    def store(self, session_id: str, title: str, root: str, events: Sequence[AgentEvent]) -> None:
        """Add a session that has ended."""
        now = time.time()
        entry = SessionEntry(session_id, title, root, SessionActivity.ENDED, now, now, detail="finished")
        self.stored[session_id] = StoredTranscript(entry, root, events)


async def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- whatever changes has no event of its own
            await asyncio.sleep(0.005)

"""All sessions of the user for the web page: those that run, and those that are stored."""

import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import islice

from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.inspection.session_export import export_session
from tejat.app.inspection.stored_sessions import ListedSession, StoredSessions
from tejat.config.paths import AppPaths
from tejat.core.agent.events import EventSink
from tejat.core.agent.history.figures import SessionHistory
from tejat.core.agent.history.matches import SessionMatches
from tejat.core.agent.history.totals import HistoryOverview
from tejat.core.log import logger
from tejat.ui.remote.directory import LiveSession, LiveState, find_live_session, list_live_sessions
from tejat.ui.remote.session import attach_session
from tejat.ui.shared.approval.question_title import question_title
from tejat.ui.shared.labels.session_state import end_label
from tejat.ui.web.contract import LiveConnection, SessionActivity, SessionEntry, StoredTranscript
from tejat.workspace.threads.daemon import run_in_daemon

_MAX_RESULTS = 100
_ACTIVITIES = {
    LiveState.WAITING: SessionActivity.WAITING,
    LiveState.WORKING: SessionActivity.WORKING,
    LiveState.IDLE: SessionActivity.IDLE,
}


class WebSessions:
    """Implements `ui.web.contract.SessionDirectory`. `paths.runtime` has the sockets of running sessions."""

    def __init__(self, stored: StoredSessions, history: StoredHistory, paths: AppPaths) -> None:
        self._stored = stored
        self._history = history
        self._paths = paths
        self._figures: dict[str, ListedSession] = {}

    async def list_sessions(self) -> Sequence[SessionEntry]:
        """List running and stored sessions. The figures of a journal are read again only if it has changed."""
        running = {each.session_id: each for each in await list_live_sessions(self._paths.runtime)}
        stored = {each.summary.session_id: each for each in await run_in_daemon(self._list_stored)}
        ids = dict.fromkeys((*running, *stored))
        return [
            to_entry(session_id, running.get(session_id), stored.get(session_id), self._paths) for session_id in ids
        ]

    @asynccontextmanager
    async def open_live(self, session_id: str, listener: EventSink) -> AsyncGenerator[LiveConnection]:
        """See `SessionDirectory.open_live`."""
        live = await find_live_session(self._paths.runtime, session_id)
        async with attach_session(live.path, logger.warning, with_history=True) as session:
            for event in session.history:
                listener(event)
            unsubscribe = session.subscribe(listener)
            try:
                yield LiveConnection(session, session.root, session.is_running, session.peer.wait_closed)
            finally:
                unsubscribe()

    async def read_stored(self, session_id: str) -> StoredTranscript:
        """See `SessionDirectory.read_stored`."""
        return await run_in_daemon(lambda: self._read(session_id))

    async def read_history(self, session_id: str) -> SessionHistory:
        """See `SessionDirectory.read_history`."""
        return await run_in_daemon(lambda: self._history.session(session_id))

    async def read_overview(self, days: int | None) -> HistoryOverview:
        """See `SessionDirectory.read_overview`."""
        return await run_in_daemon(lambda: self._history.overview(days=days))

    async def search(self, text: str) -> Sequence[SessionMatches]:
        """See `SessionDirectory.search`. It ends when the browser does not wait for it any more."""
        is_cancelled = threading.Event()
        try:
            return await run_in_daemon(lambda: self._search(text, is_cancelled))
        finally:
            is_cancelled.set()

    def _search(self, text: str, is_cancelled: threading.Event) -> list[SessionMatches]:
        return list(islice(self._history.search(text, is_cancelled=is_cancelled.is_set), _MAX_RESULTS))

    def _list_stored(self) -> list[ListedSession]:
        summaries = self._stored.list_summaries(every_project=True)
        before, self._figures = self._figures, {}
        for summary in summaries:
            known = before.get(summary.path)
            if known is None or known.summary != summary:
                known = self._stored.with_figures(summary)
            self._figures[summary.path] = known
        return list(self._figures.values())

    def _read(self, session_id: str) -> StoredTranscript:
        summary = self._stored.find(session_id)
        listed = self._stored.with_figures(summary)
        export = export_session(listed, self._stored.load(summary), {})
        return StoredTranscript(
            to_entry(summary.session_id, None, listed, self._paths), summary.root, list(export.events())
        )


def to_entry(session_id: str, live: LiveSession | None, stored: ListedSession | None, paths: AppPaths) -> SessionEntry:
    """A session that runs, is stored, or both, as the page lists it."""
    modified = stored.summary.modified if stored is not None else live.started if live is not None else 0.0
    title = (stored.summary.title if stored is not None else "") or (live.title if live is not None else "")
    turns = stored.turns if stored is not None else 0
    if live is None:
        assert stored is not None
        folder, model = paths.abbreviate(stored.summary.root), stored.summary.model
        ended, detail = SessionActivity.ENDED, end_label(stored.end)
        return SessionEntry(session_id, title, folder, ended, modified, modified, stored.cost, turns, model, detail)
    waits = question_title(live.questions[0].request) if live.questions else ""
    return SessionEntry(
        session_id,
        title,
        paths.abbreviate(live.folder),
        _ACTIVITIES[live.state],
        live.waiting_since or modified,
        modified,
        live.cost,
        turns,
        live.model,
        waits,
        is_live=True,
    )

"""Looking back over stored sessions: the figures of one, totals over time, and a search."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

from tejat.app.inspection.history.journal_scan import scan_journal
from tejat.app.inspection.history.overview import HistoryIndex, build_overview, first_day
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.inspection.history.search import MAX_MATCHES, search_sessions
from tejat.app.inspection.history.search_words import parse_words
from tejat.app.inspection.history.session_history import build_history
from tejat.app.inspection.openers import open_undo
from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig
from tejat.core.agent.history.figures import SessionHistory
from tejat.core.agent.history.matches import SessionMatches
from tejat.core.agent.history.totals import HistoryOverview
from tejat.core.errors import TejatError, UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.core.undo import UndoEntry
from tejat.engine.sessions.session_store import SessionSummary, list_all_sessions


class StoredHistory:
    """The history of all stored sessions, as seen from a project."""

    def __init__(self, run_config: RunConfig) -> None:
        self._paths = run_config.paths
        self._sessions = StoredSessions(run_config)
        self._prices = RequestPrices(run_config)

    def session(self, word: str) -> SessionHistory:
        """The history of the session that a word names, see `StoredSessions.find`. Raises UsageError."""
        summary = self._sessions.find(word)
        try:
            scan = scan_journal(summary.path)
        except OSError as error:
            session, reason = sanitize_text(summary.session_id), error.strerror or error
            raise UsageError(_("Cannot open session {session}: {reason}.", session=session, reason=reason)) from None
        history = build_history(scan, self._prices, _recorded_changes(summary))
        if scan.session_id:
            return history
        identity = {"session_id": summary.session_id, "title": summary.title, "root": summary.root}
        missing = _("The start of the session is missing.")
        return replace(history, **identity, started=summary.started, notes=(*history.notes, missing))

    def overview(self, *, days: int | None = None, root: str | None = None) -> HistoryOverview:
        """The figures of the last `days` days, None for all, and of one project if `root` names it. Raises nothing."""
        index = HistoryIndex(self._paths.history_index, self._prices)
        found = index.load(summary.path for summary in list_all_sessions(self._paths.sessions))
        if root is not None:
            found = [totals for totals in found if totals.root == root]
        since = "" if days is None else first_day(days, time.time())
        return build_overview(found, since=since, unreadable=index.unreadable)

    def search(
        self,
        text: str,
        *,
        every_project: bool = True,
        max_matches: int = MAX_MATCHES,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[SessionMatches]:
        """Search all sessions or those of this project, the most recently used first. Raises UsageError at once."""
        words = parse_words(text)
        sessions = list_all_sessions(self._paths.sessions) if every_project else self._sessions.own_sessions()
        return search_sessions(sessions, words, max_matches=max_matches, is_cancelled=is_cancelled)


def _recorded_changes(summary: SessionSummary) -> list[UndoEntry]:
    """The entries of a session in the undo log of its project; none if that cannot be read."""
    if not summary.root:
        return []
    with suppress(TejatError, OSError), closing(open_undo([summary.root])) as log:
        return [entry for entry in log.entries() if entry.session == summary.session_id]
    return []

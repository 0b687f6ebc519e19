"""Figures of all sessions over time, from an index that is kept between runs."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, timedelta

from tejat.app.inspection.history.journal_scan import scan_journal
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.inspection.history.session_totals import SessionTotals, build_totals, local_day, merge_totals
from tejat.config.files.parse_cache import ParseCache, file_identity
from tejat.core.agent.history.totals import HistoryOverview, PeriodTotals
from tejat.core.i18n import ngettext

_VERSION = "1"
_MAX_DAYS = 4000
"""A journal with a wrong clock must not make the list of days endless."""


class HistoryIndex:
    """The totals of sessions, read again only if a journal has changed.

    It has a private file in `directory` for each project. Safe with several processes: a file is replaced in one step,
    and that of whoever comes last is kept. A file that cannot be read is made again. Raises nothing.
    """

    def __init__(self, directory: str, prices: RequestPrices) -> None:
        self._directory = directory
        self._prices = prices
        # Days depend on the time zone, costs on the prices.
        zone = f"{time.timezone}/{time.altzone}/{'/'.join(time.tzname)}"
        self._version = f"{_VERSION} {zone} {prices.version}"
        self.unreadable = 0

    def load(self, paths: Iterable[str]) -> list[SessionTotals]:
        """The totals of the journals of all sessions. What is not among them is dropped from the index."""
        projects: dict[str, list[str]] = {}
        for path in paths:
            projects.setdefault(os.path.basename(os.path.dirname(path)), []).append(path)
        self._drop_others({f"{project}.json" for project in projects})
        return [totals for project, journals in projects.items() for totals in self._load_project(project, journals)]

    def _drop_others(self, names: set[str]) -> None:
        with suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and entry.name not in names:
                    os.unlink(entry.path)

    def _load_project(self, project: str, journals: list[str]) -> list[SessionTotals]:
        path = os.path.join(self._directory, f"{project}.json")
        cache = ParseCache(path, version=self._version, keeps_unused=False)
        found: list[SessionTotals] = []
        for journal in journals:
            try:
                found.append(self._load(journal, cache))
            except OSError:
                self.unreadable += 1
        cache.save()
        return found

    def _load(self, path: str, cache: ParseCache) -> SessionTotals:
        """Raises OSError."""
        identity = file_identity(os.stat(path))
        kept = cache.get(path, identity)
        if kept is not None:
            try:
                return SessionTotals.from_json(kept)
            except ValueError:
                pass
        totals = build_totals(scan_journal(path), self._prices)
        cache.put(path, identity, totals.to_json())
        return totals


def build_overview(sessions: Iterable[SessionTotals], *, since: str = "", unreadable: int = 0) -> HistoryOverview:
    """Sum sessions by day and project. `since` is the first day, in ISO format; empty for all."""
    by_day: dict[str, list[PeriodTotals]] = {}
    by_project: dict[str, list[PeriodTotals]] = {}
    in_project: dict[str, set[str]] = {}
    damaged = 0
    for session in sessions:
        days = [day for day in session.days if day.name >= since]
        damaged += session.damaged
        for day in days:
            by_day.setdefault(day.name, []).append(day)
        if days:
            by_project.setdefault(session.root, []).extend(days)
            in_project.setdefault(session.root, set()).add(session.session_id)
    days = tuple(merge_totals(day, by_day[day], sessions=len(by_day[day])) for day in sorted(by_day))
    projects = (merge_totals(root, some, sessions=len(in_project[root])) for root, some in by_project.items())
    total = merge_totals("", days, sessions=sum(map(len, in_project.values())))
    return HistoryOverview(
        total,
        tuple(_fill_gaps(days, since)),
        tuple(sorted(projects, key=lambda project: (-(project.cost or 0.0), -project.usage.total, project.name))),
        tuple(_notes(damaged, unreadable, total)),
    )


def first_day(days: int, now: float) -> str:
    """The first of the last `days` days, today included."""
    return (date.fromisoformat(local_day(now)) - timedelta(days - 1)).isoformat()


def _fill_gaps(days: tuple[PeriodTotals, ...], since: str) -> Iterable[PeriodTotals]:
    """Add the days without sessions between the first day and the last."""
    if not days:
        return
    known = {day.name: day for day in days}
    first, last = date.fromisoformat(since or days[0].name), date.fromisoformat(days[-1].name)
    first = max(first, last - timedelta(_MAX_DAYS))
    for number in range((last - first).days + 1):
        name = (first + timedelta(number)).isoformat()
        yield known.get(name) or PeriodTotals(name)


def _notes(damaged: int, unreadable: int, total: PeriodTotals) -> Iterable[str]:
    if unreadable:
        yield ngettext("{count} session could not be read.", "{count} sessions could not be read.", unreadable)
    if damaged:
        yield ngettext("Skipped {count} damaged record.", "Skipped {count} damaged records.", damaged)
    if total.approvals.unrecorded:
        yield ngettext(
            "The time and approval of {count} tool call were not recorded.",
            "The times and approvals of {count} tool calls were not recorded.",
            total.approvals.unrecorded,
        )

"""The stored sessions of this project and of all others: list, find and delete them."""

import os
import time
from functools import cached_property, partial

from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.model_source import own_prices
from tejat.app.run_config import RunConfig
from tejat.app.session.initial_state import open_session_store
from tejat.config.files.parse_cache import ParseCache, file_identity
from tejat.core.agent.prices import cost_of
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.engine.sessions.figures.session_figures import SessionFigures, read_session_figures
from tejat.engine.sessions.journal_reader import LoadedSession
from tejat.engine.sessions.session_store import LATEST, SessionSummary, list_all_sessions
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import PriceList, day_of

_VERSION = "1"


class ListedSession(Frozen):
    """A session with its figures. `cost` is in dollars, None if a price is unknown; `end` is as in `SessionFigures`."""

    summary: SessionSummary
    turns: int
    tokens: int
    cost: float | None
    end: str = ""


class StoredSessions:
    """The sessions that can be used from a project: its own first, then those of other projects by id."""

    def __init__(self, run_config: RunConfig) -> None:
        self._run_config = run_config
        self._directory = run_config.paths.sessions
        self._own = open_session_store(run_config)
        self._prices = PriceList(partial(load_catalogue, run_config.paths.catalogue), own_prices(run_config))

    def list_sessions(self, *, every_project: bool) -> list[ListedSession]:
        """List the sessions with their figures, most recent last. Raises nothing.

        Only journals that have changed since the last time are read.
        """
        caches: dict[str, ParseCache] = {}
        listed: list[ListedSession] = []
        for summary in self.list_summaries(every_project=every_project):
            project = os.path.basename(os.path.dirname(summary.path))
            if project not in caches:
                path = os.path.join(self._run_config.paths.session_list, f"{project}.json")
                caches[project] = ParseCache(path, version=self._figures_version, keeps_unused=False)
            listed.append(self._with_kept_figures(summary, caches[project]))
        for cache in caches.values():
            cache.save()
        return listed

    def _with_kept_figures(self, summary: SessionSummary, cache: ParseCache) -> ListedSession:
        try:
            identity = file_identity(os.stat(summary.path))
        except OSError:
            return self.with_figures(summary)
        kept = cache.get(summary.path, identity)
        if kept is not None:
            try:
                return _listed_from_json(summary, kept)
            except ValueError:
                pass
        listed = self.with_figures(summary)
        cache.put(summary.path, identity, _listed_to_json(listed))
        return listed

    @cached_property
    def _figures_version(self) -> str:
        """A text that changes with the prices, which may be others on another day."""
        return f"{_VERSION} {day_of(time.time())} {RequestPrices(self._run_config).version}"

    def list_summaries(self, *, every_project: bool) -> list[SessionSummary]:
        """List the sessions, most recent last. Only the first line of each is read. Raises nothing."""
        return list_all_sessions(self._directory) if every_project else self._own.list_sessions()

    def own_sessions(self) -> list[SessionSummary]:
        """List the sessions of the project without their figures, most recent last. Raises nothing."""
        return self._own.list_sessions()

    def find(self, word: str) -> SessionSummary:
        """Return the session for "latest" or a number of this project, or for an id or its beginning in any project.

        Raises UsageError.
        """
        try:
            return self._own.find(word)
        except UsageError:
            others = [entry for entry in list_all_sessions(self._directory) if _matches(entry, word)]
            exact = [entry for entry in others if entry.session_id == word]
            if len(exact or others) == 1:
                return (exact or others)[0]
            if not others:
                raise
        names = ", ".join(sanitize_text(entry.session_id) for entry in others)
        raise UsageError(_("{word} matches more than one session: {matches}.", word=sanitize_text(word), matches=names))

    def with_figures(self, summary: SessionSummary) -> ListedSession:
        """Read the figures of a session; a file that cannot be read has none."""
        try:
            figures = read_session_figures(summary.path)
        except OSError:
            figures = SessionFigures()
        tokens = sum(usage.total for _model, usage in figures.requests)
        return ListedSession(summary, figures.turns, tokens, self._cost(figures, summary.model), figures.end)

    def load(self, summary: SessionSummary) -> LoadedSession:
        """Read a conversation. Raises UsageError."""
        return self._own.load(summary)

    def delete(self, summary: SessionSummary) -> None:
        """Delete a session, unless it is in use. Raises UsageError."""
        self._own.delete(summary)

    def _cost(self, figures: SessionFigures, requested_model: str) -> float | None:
        """The dollars for all requests. A service may name its model in its own way, and not as it was requested."""
        cost = 0.0
        for model, usage in figures.requests:
            price = self._prices.price_of(model) or self._prices.price_of(requested_model)
            if price is None:
                return None
            cost += cost_of(usage, price)
        return cost


def _listed_to_json(listed: ListedSession) -> JsonObject:
    return {"turns": listed.turns, "tokens": listed.tokens, "cost": listed.cost, "end": listed.end}


def _listed_from_json(summary: SessionSummary, value: JsonValue) -> ListedSession:
    """Raises ValueError."""
    fields = JsonFields(value)
    turns, tokens = fields.integer("turns"), fields.integer("tokens")
    return ListedSession(summary, turns, tokens, fields.number_or_none("cost"), fields.string("end"))


def _matches(entry: SessionSummary, word: str) -> bool:
    """Whether the word begins the id. Short numbers and `latest` are meant for the list of one project."""
    return len(word) >= _MIN_PREFIX and word != LATEST and entry.session_id.startswith(word)


_MIN_PREFIX = 4

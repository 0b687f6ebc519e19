"""`tejat sessions stats`: what one session did, or all sessions over time."""

from argparse import Namespace
from collections.abc import Iterable, Sequence

from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import RunConfig
from tejat.cli.commands.sessions.stats_json import history_to_json, overview_to_json
from tejat.cli.messages import print_errors
from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, RunHistory, SessionHistory, ToolUse
from tejat.core.agent.history.totals import HistoryOverview, PeriodTotals
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, lazy, ngettext
from tejat.core.json_text import dump_json
from tejat.core.model import Usage
from tejat.core.sanitize import sanitize_line
from tejat.core.text.time_format import format_time
from tejat.ui.plain.table import print_table
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.shared.labels.history import DECISION_LABELS, format_end
from tejat.ui.shared.labels.run_summary import format_cost, format_count

DEFAULT_DAYS = 30
_MAX_ROWS = 20


def run(config: RunConfig, words: Sequence[str], options: Namespace) -> int:
    """Print the figures of a session, or of the last days, and return the exit code. Raises UsageError."""
    history = StoredHistory(config)
    if words and options.days is not None:
        raise UsageError(_("--days is for the statistics of all sessions. Leave it out, or name no session."))
    if words:
        session = history.session(words[0])
        if options.json:
            print(dump_json(history_to_json(session), indent=2))
        else:
            _print_session(session)
        return EXIT_OK
    days: int = options.days or DEFAULT_DAYS
    overview = history.overview(days=days)
    if options.json:
        print(dump_json(overview_to_json(overview), indent=2))
    else:
        _print_overview(overview, days)
    return EXIT_OK


def _print_session(history: SessionHistory) -> None:
    print(f"{sanitize_line(history.session_id)}  {sanitize_line(history.title)}")
    print(
        _(
            "{project}, {start} to {end}, {tokens} tokens, {cost}",
            project=sanitize_line(history.root),
            start=format_time(history.started),
            end=format_time(history.ended),
            tokens=format_count(history.usage.total),
            cost=_cost(history.cost),
        )
    )
    _section((*_RUN_HEADING, *_TOKENS, lazy("COST"), lazy("END"), lazy("PROMPT")), map(_run_row, history.runs))
    _print_uses(history.models, history.tools, history.approvals)
    files = [(_lines(file.added, "+"), _lines(file.removed, "-"), str(file.calls), file.path) for file in history.files]
    _section((lazy("ADDED"), lazy("REMOVED"), lazy("CALLS"), lazy("FILE")), files)
    agents = [
        (_time(agent.seconds), _cost(agent.cost), agent.reason or "?", agent.model, agent.agent_id)
        for agent in history.agents
    ]
    _section((lazy("TIME"), lazy("COST"), lazy("END"), lazy("MODEL"), lazy("AGENT")), agents)
    print_errors(history.notes)


def _print_overview(overview: HistoryOverview, days: int) -> None:
    total = overview.total
    if not total.sessions:
        print(ngettext("No sessions in the last {count} day.", "No sessions in the last {count} days.", days))
        print_errors(overview.notes)
        return
    sessions = ngettext("{count} session", "{count} sessions", total.sessions)
    tokens = _("{tokens} tokens", tokens=format_count(total.usage.total))
    period = ngettext("Last {count} day", "Last {count} days", days)
    print(f"{period}: {sessions}, {tokens}, {_cost(total.cost)}")
    _section((*_TOTALS, lazy("DAY")), (_total_row(day) for day in overview.days if day.sessions), limit=None)
    _section((*_TOTALS, lazy("PROJECT")), map(_total_row, overview.projects))
    _print_uses(total.models, total.tools, total.approvals)
    print_errors(overview.notes)


def _print_uses(models: Sequence[ModelUse], tools: Sequence[ToolUse], approvals: ApprovalCounts) -> None:
    _section((lazy("REQUESTS"), *_TOKENS, lazy("TIME"), lazy("COST"), lazy("MODEL")), map(_model_row, models))
    _section((lazy("CALLS"), lazy("FAILED"), lazy("TIME"), lazy("MEAN"), lazy("TOOL")), map(_tool_row, tools))
    _print_approvals(approvals)


def _section(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, limit: int | None = _MAX_ROWS) -> None:
    """Print a table after an empty line, nothing if it has no rows. Figures are aligned to the right."""
    listed = list(rows)
    if listed:
        print()
        numeric = [column for column, title in enumerate(heading) if title not in _TEXT_COLUMNS]
        print_table([heading, *listed[:limit]], numeric=numeric)
        if limit is not None and len(listed) > limit:
            print(ngettext("{count} more row", "{count} more rows", len(listed) - limit))


_TOKENS = (lazy("INPUT"), lazy("CACHED"), lazy("OUTPUT"), lazy("THOUGHTS"))
_TOTALS = (lazy("SESSIONS"), lazy("RUNS"), lazy("TOKENS"), lazy("CALLS"), lazy("COST"))
_RUN_HEADING = (lazy("RUN"), lazy("START"), lazy("TIME"), lazy("WAITED"))
_TEXT_COLUMNS = frozenset({"START", "END", "MODEL", "TOOL", "PROMPT", "FILE", "AGENT", "DAY", "PROJECT", "DECISION"})


def _run_row(run: RunHistory) -> tuple[str, ...]:
    times = format_time(run.started), _time(run.seconds), _time(run.waited)
    end = _cost(run.cost), format_end(run.reason), " ".join(run.prompt.split())
    return (str(run.number), *times, *_tokens(run.usage), *end)


def _tokens(usage: Usage) -> tuple[str, ...]:
    counts = (usage.prompt + usage.tool, usage.cached, usage.output, usage.thoughts)
    return tuple(map(format_count, counts))


def _model_row(use: ModelUse) -> tuple[str, ...]:
    return (format_count(use.requests), *_tokens(use.usage), _time(use.seconds), _cost(use.cost), use.model)


def _tool_row(use: ToolUse) -> tuple[str, ...]:
    times = _time(use.seconds), _time(use.mean_seconds)
    return (format_count(use.calls), format_count(use.failures), *times, use.name)


def _total_row(totals: PeriodTotals) -> tuple[str, ...]:
    calls = sum(use.calls for use in totals.tools)
    counts = (totals.sessions, totals.runs, totals.usage.total, calls)
    return (*map(format_count, counts), _cost(totals.cost), totals.name or _("unknown"))


def _print_approvals(counts: ApprovalCounts) -> None:
    if not counts.recorded:
        return
    decided = [(format_count(count), DECISION_LABELS[decision]) for decision, count in counts.by_decision if count]
    _section((lazy("CALLS"), lazy("DECISION")), decided)
    if counts.asked or counts.waited:
        questions = ngettext("{count} question", "{count} questions", counts.asked)
        print(_("{questions}, waited {time} for your answers", questions=questions, time=_time(counts.waited)))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return format_duration(seconds) if seconds else "0 s"


def _cost(cost: float | None) -> str:
    return "?" if cost is None else format_cost(cost)


def _lines(count: int | None, sign: str) -> str:
    return "?" if count is None else f"{sign}{count}"

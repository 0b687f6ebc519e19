"""The history of sessions as HTML fragments: one session, all sessions over time, search results."""

import time
from collections.abc import Callable, Iterable, Sequence

from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, RunHistory, SessionHistory, ToolUse
from tejat.core.agent.history.matches import SessionMatch, SessionMatches
from tejat.core.agent.history.totals import HistoryOverview, PeriodTotals
from tejat.core.i18n import _, ngettext, translate
from tejat.core.text.time_format import format_age, format_time
from tejat.ui.html.charts.bars import ChartBar, render_bars
from tejat.ui.html.charts.gantt import render_timeline
from tejat.ui.html.charts.scale import ChartUnit, format_value
from tejat.ui.html.charts.stacked_bars import ChartSeries, render_stacked_bars
from tejat.ui.html.charts.svg import table
from tejat.ui.html.markup import escape_line
from tejat.ui.shared.labels.history import DECISION_LABELS, PLACE_LABELS, format_end

MAX_TIMELINES = 20
_MAX_PROMPT = 200
LinkTo = Callable[[str], str]
"""The address of the page of a session with this id."""


def render_session_history(history: SessionHistory) -> str:
    """Render what one session did: key figures, runs, charts and tables. Headings begin with the second level."""
    shown = [timeline for timeline in history.timelines if timeline.spans or timeline.missing][-MAX_TIMELINES:]
    timelines = "".join(render_timeline(each, chart_id=f"timeline-{each.number}") for each in shown)
    parts = [
        _key_figures(_session_figures(history)),
        _notes(history.notes),
        _section(_("Runs"), _runs_table(history.runs)),
        _section(_("Timelines"), timelines),
        _section(_("Models"), _models_table(history.models)),
        _section(_("Tools"), _tool_chart(history.tools, "tools")),
        _section(_("Approvals"), _approval_chart(history.approvals, "approvals")),
        _section(_("Changed files"), _files_table(history)),
        _section(_("Sub-agents"), _agents_table(history)),
    ]
    return "".join(parts)


def render_overview(overview: HistoryOverview) -> str:
    """Render all sessions of a period: key figures, charts by day, models, projects, tools and approvals."""
    total = overview.total
    days = [day.name for day in overview.days]
    figures = [
        (_("Sessions"), format_value(total.sessions, ChartUnit.COUNT)),
        (_("Runs"), format_value(total.runs, ChartUnit.COUNT)),
        (_("Tokens"), format_value(total.usage.total, ChartUnit.COUNT)),
        (_("Cost"), format_value(total.cost, ChartUnit.DOLLARS)),
        (_("Waited for you"), format_value(_waited(total.approvals), ChartUnit.SECONDS)),
    ]
    tokens = render_stacked_bars(
        _("Tokens by day"), days, _token_series(overview.days), ChartUnit.COUNT, chart_id="tokens"
    )
    costs = render_stacked_bars(_("Cost by day"), days, _cost_series(overview), ChartUnit.DOLLARS, chart_id="costs")
    parts = [
        _key_figures(figures),
        _notes(overview.notes),
        _section(_("Over time"), tokens + costs),
        _section(_("Models"), _models_table(total.models)),
        _section(_("Projects"), _projects_table(overview.projects)),
        _section(_("Tools"), _tool_chart(total.tools, "tools")),
        _section(_("Approvals"), _approval_chart(total.approvals, "approvals")),
    ]
    return "".join(parts)


def render_search_results(results: Iterable[SessionMatches], link_to: LinkTo, *, now: float | None = None) -> str:
    """Render search results as a list, with links to the sessions and the words marked."""
    current = time.time() if now is None else now
    items = "".join(_result(found, link_to, current) for found in results)
    if not items:
        return _notes([_("No session contains all of these words.")])
    return f'<ol class="search-results">{items}</ol>'


def _result(found: SessionMatches, link_to: LinkTo, now: float) -> str:
    title = escape_line(found.title or _("(no prompt)"))
    heading = f'<h3><a href="{escape_line(link_to(found.session_id))}">{title}</a></h3>'
    meta = ", ".join(filter(None, (format_age(now - found.modified), found.root)))
    problem = f'<p class="history-note">{escape_line(found.problem)}</p>' if found.problem else ""
    matches = "".join(f"<li>{_match(match)}</li>" for match in found.matches)
    more = found.count - len(found.matches)
    if more > 0:
        label = ngettext("{count} more match", "{count} more matches", more)
        matches += f'<li class="history-note">{escape_line(label)}</li>'
    listed = f'<ul class="search-matches">{matches}</ul>' if matches else ""
    return f'<li>{heading}<p class="search-meta">{escape_line(meta)}</p>{problem}{listed}</li>'


def _match(match: SessionMatch) -> str:
    place = _("turn {turn}, {place}", turn=match.turn, place=translate(PLACE_LABELS[match.place]))
    names = ", ".join(filter(None, (match.tool, match.agent)))
    place = f"{place} ({names})" if names else place
    pieces, last = list[str](), 0
    for start, end in match.marks:
        pieces += [escape_line(match.snippet[last:start]), f"<mark>{escape_line(match.snippet[start:end])}</mark>"]
        last = end
    return (
        f'<span class="search-place">{escape_line(place)}:</span> {"".join(pieces)}{escape_line(match.snippet[last:])}'
    )


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape_line(title)}</h2>{content}</section>" if content else ""


def _key_figures(figures: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<div><dt>{escape_line(name)}</dt><dd>{escape_line(value)}</dd></div>" for name, value in figures)
    return f'<dl class="key-figures">{items}</dl>'


def _notes(notes: Iterable[str]) -> str:
    return "".join(f'<p class="history-note">{escape_line(translate(note))}</p>' for note in notes)


def _session_figures(history: SessionHistory) -> list[tuple[str, str]]:
    seconds = sum(run.seconds or 0.0 for run in history.runs)
    known = [file for file in history.files if file.added is not None and file.removed is not None]
    added, removed = sum(file.added or 0 for file in known), sum(file.removed or 0 for file in known)
    return [
        (_("Started"), format_time(history.started)),
        (_("Time"), format_value(seconds, ChartUnit.SECONDS)),
        (_("Waited for you"), format_value(_waited(history.approvals), ChartUnit.SECONDS)),
        (_("Tokens"), format_value(history.usage.total, ChartUnit.COUNT)),
        (_("Cost"), format_value(history.cost, ChartUnit.DOLLARS)),
        (_("Changed files"), format_value(len(history.files), ChartUnit.COUNT)),
        (_("Lines"), f"+{added:,} -{removed:,}" if known or not history.files else "?"),
    ]


def _waited(counts: ApprovalCounts) -> float | None:
    return counts.waited if counts.is_recorded else None


def _tokens(use: ModelUse | RunHistory | PeriodTotals) -> tuple[str, ...]:
    usage = use.usage
    counts = (usage.prompt + usage.tool, usage.cached, usage.output, usage.thoughts)
    return tuple(format_value(count, ChartUnit.COUNT) for count in counts)


def _token_heading() -> tuple[str, ...]:
    return (_("Input"), _("Cached"), _("Output"), _("Thoughts"))


def _runs_table(runs: Sequence[RunHistory]) -> str:
    heading = (_("Run"), _("Start"), _("Time"), _("Waited"), *_token_heading(), _("Cost"), _("End"), _("Prompt"))
    rows = [
        (
            str(run.number),
            format_time(run.started),
            format_value(run.seconds, ChartUnit.SECONDS),
            format_value(run.waited, ChartUnit.SECONDS),
            *_tokens(run),
            format_value(run.cost, ChartUnit.DOLLARS),
            format_end(run.reason),
            " ".join(run.prompt.split())[:_MAX_PROMPT],
        )
        for run in runs
    ]
    return table(heading, rows, caption=_("Runs"), texts=(1, 9, 10)) if rows else ""


def _models_table(models: Sequence[ModelUse]) -> str:
    heading = (_("Model"), _("Requests"), *_token_heading(), _("Time"), _("Cost"))
    rows = [
        (
            use.model,
            format_value(use.requests, ChartUnit.COUNT),
            *_tokens(use),
            format_value(use.seconds, ChartUnit.SECONDS),
            format_value(use.cost, ChartUnit.DOLLARS),
        )
        for use in models
    ]
    return table(heading, rows, caption=_("Models")) if rows else ""


def _projects_table(projects: Sequence[PeriodTotals]) -> str:
    heading = (_("Project"), _("Sessions"), _("Runs"), _("Tokens"), _("Cost"))
    rows = [
        (
            project.name or _("unknown"),
            format_value(project.sessions, ChartUnit.COUNT),
            format_value(project.runs, ChartUnit.COUNT),
            format_value(project.usage.total, ChartUnit.COUNT),
            format_value(project.cost, ChartUnit.DOLLARS),
        )
        for project in projects
    ]
    return table(heading, rows, caption=_("Projects")) if rows else ""


def _files_table(history: SessionHistory) -> str:
    heading = (_("File"), _("Added"), _("Removed"), _("Calls"))
    rows = [
        (file.path, _count(file.added), _count(file.removed), format_value(file.calls, ChartUnit.COUNT))
        for file in history.files
    ]
    return table(heading, rows, caption=_("Changed files")) if rows else ""


def _agents_table(history: SessionHistory) -> str:
    heading = (_("Agent"), _("Model"), _("Time"), _("Turns"), _("Calls"), _("Tokens"), _("Cost"), _("End"))
    rows = [
        (
            agent.agent_id,
            agent.model,
            format_value(agent.seconds, ChartUnit.SECONDS),
            _count(agent.turns),
            _count(agent.calls),
            _count(None if agent.usage is None else agent.usage.total),
            format_value(agent.cost, ChartUnit.DOLLARS),
            agent.reason or "?",
        )
        for agent in history.agents
    ]
    return table(heading, rows, caption=_("Sub-agents"), texts=(1, 7)) if rows else ""


def _count(count: int | None) -> str:
    return format_value(count, ChartUnit.COUNT)


def _tool_chart(tools: Sequence[ToolUse], chart_id: str) -> str:
    if not tools:
        return ""
    bars = [ChartBar(use.name, use.seconds, _call_label(use)) for use in tools]
    return render_bars(_("Time per tool"), bars, ChartUnit.SECONDS, chart_id=chart_id, names=_("Tool"))


def _call_label(use: ToolUse) -> str:
    calls = ngettext("{count} call", "{count} calls", use.calls)
    return _("({calls}, {failed} failed)", calls=calls, failed=use.failures) if use.failures else f"({calls})"


def _approval_chart(counts: ApprovalCounts, chart_id: str) -> str:
    if not counts.recorded:
        return ""
    bars = [ChartBar(translate(DECISION_LABELS[decision]), float(count)) for decision, count in counts.by_decision]
    chart = render_bars(_("Tool calls by decision"), bars, ChartUnit.COUNT, chart_id=chart_id, names=_("Decision"))
    questions = ngettext("{count} question", "{count} questions", counts.asked)
    waited = format_value(counts.waited, ChartUnit.SECONDS)
    note = _("{questions}, waited {time} for your answers", questions=questions, time=waited)
    return chart + f'<p class="history-note">{escape_line(note)}</p>'


def _token_series(days: Sequence[PeriodTotals]) -> list[ChartSeries]:
    usages = [day.usage for day in days]
    return [
        ChartSeries(_("cached input"), tuple(float(usage.cached) for usage in usages)),
        ChartSeries(_("other input"), tuple(float(usage.prompt - usage.cached + usage.tool) for usage in usages)),
        ChartSeries(_("output"), tuple(float(usage.output) for usage in usages)),
        ChartSeries(_("thoughts"), tuple(float(usage.thoughts) for usage in usages)),
    ]


def _cost_series(overview: HistoryOverview) -> list[ChartSeries]:
    """The cost by model, the most expensive first."""
    costs = [{use.model: use.cost for use in day.models} for day in overview.days]
    names = [use.model for use in overview.total.models]
    return [ChartSeries(name, tuple(day.get(name, 0.0) for day in costs)) for name in names]

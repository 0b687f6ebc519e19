"""The report of a batch as one HTML file: charts, and all tasks with links to their files."""

import os
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from tejat.batch.directory import BatchDirectory, TaskDirectory
from tejat.batch.report.check_excerpt import read_excerpt
from tejat.batch.report.figures import BatchFigures, GroupFigures, collect_figures
from tejat.batch.report.histogram import make_histogram
from tejat.batch.report.page import batch_page, key_figures, note, section
from tejat.batch.report.terminal import interval_label, rate_label
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.text.columns import one_line
from tejat.batch.text.labels import (
    STATUS_ORDER,
    STATUS_TONES,
    cost_label,
    failure_label,
    lines_label,
    reason_detail,
    reason_label,
    status_label,
    time_label,
)
from tejat.batch.text.terminal_style import UNICODE_SIGNS
from tejat.core.i18n import _, ngettext
from tejat.core.text.paths import is_beneath
from tejat.core.text.time_format import format_time
from tejat.ui.html.charts.bars import ChartBar, render_bars
from tejat.ui.html.charts.scale import ChartUnit
from tejat.ui.html.charts.svg import table
from tejat.ui.html.markup import disclosure, escape_line, escape_text
from tejat.ui.shared.labels.run_summary import format_cost, format_count

REPORT_NAME = "report.html"
_MAX_EXCERPTS = 300
_MAX_OPEN_ROWS = 200
"""Longer lists are folded, so that the page opens at once."""
_MAX_GROUPS = 100
_MAX_MESSAGE_CHARS = 500


def render_report(directory: BatchDirectory, results: Sequence[TaskResult], *, path: str = "", title: str = "") -> str:
    """Render the report. Tasks are linked to their files if `path`, where it will be, is in the directory."""
    figures = collect_figures(results)
    target = os.path.abspath(path) if path else os.path.join(directory.path, REPORT_NAME)
    files = _TaskFiles(directory, os.path.dirname(target)) if is_beneath(target, directory.path) else None
    name = title or _("Batch {name}", name=os.path.basename(directory.path))
    return batch_page(
        name,
        _facts(figures, results),
        [
            _key_figures(figures),
            section(_("Charts"), _charts(figures)) if figures.total else note(_("No results yet.")),
            section(_("Models"), _groups_table(_("Model"), figures.models)),
            section(_("Repositories"), _groups_table(_("Repository"), figures.repositories)),
            section(_("Tasks"), _task_lists(results, files, directory)),
        ],
    )


def _facts(figures: BatchFigures, results: Sequence[TaskResult]) -> list[tuple[str, str]]:
    started = min((result.started for result in results if result.started), default=0.0)
    ended = max((result.ended for result in results), default=0.0)
    facts = [
        (_("Started"), format_time(started) if started else ""),
        (_("Ended"), format_time(ended) if ended else ""),
        (_("Model"), figures.models[0].name if len(figures.models) == 1 else ""),
        (_("Repository"), figures.repositories[0].name if len(figures.repositories) == 1 else ""),
    ]
    return [(name, one_line(value)) for name, value in facts if value]


def _key_figures(figures: BatchFigures) -> str:
    counts, interval = figures.counts, figures.pass_interval
    tried = figures.total - counts.get(TaskStatus.SKIPPED, 0)
    passed = _("{passed} of {tried}", passed=f"{counts.get(TaskStatus.PASSED, 0):,}", tried=f"{tried:,}")
    per_pass = figures.cost_per_pass
    unknown = figures.unknown_costs
    costs = [
        _("{cost} per passed task", cost=format_cost(per_pass)) if per_pass else "",
        ngettext("{count} price unknown", "{count} prices unknown", unknown) if unknown else "",
    ]
    median = _("median {value}", value=time_label(figures.seconds.median))
    wall = _("{time} from start to end", time=time_label(figures.wall_seconds)) if figures.wall_seconds else ""
    rate = rate_label(figures.pass_rate)
    return key_figures(
        [
            (_("Passed"), rate, ", ".join(filter(None, (passed, interval_label(interval) if interval else "")))),
            (_("Failed"), f"{counts.get(TaskStatus.FAILED, 0):,}", ""),
            (
                _("Errors"),
                f"{counts.get(TaskStatus.ERROR, 0):,}",
                _("not tried") if counts.get(TaskStatus.ERROR) else "",
            ),
            (_("Cost"), cost_label(figures.cost.total), ", ".join(filter(None, costs))),
            (_("Time of all tasks"), time_label(figures.seconds.total), ", ".join(filter(None, (median, wall)))),
            (_("Tokens"), format_count(figures.tokens), ""),
            (_("Lines"), lines_label(figures.lines_added, figures.lines_removed) or "0", ""),
        ]
    )


def _charts(figures: BatchFigures) -> str:
    count = ChartUnit.COUNT
    states = [
        ChartBar(status_label(status), float(figures.counts[status]))
        for status in STATUS_ORDER
        if figures.counts.get(status)
    ]
    reasons = [ChartBar(failure_label(failure), float(number)) for failure, number in figures.failures.items()]
    times = make_histogram(figures.task_seconds, ChartUnit.SECONDS)
    costs = make_histogram(figures.task_costs, ChartUnit.DOLLARS)
    charts = [
        render_bars(_("Results"), states, count, chart_id="results", names=_("Status")),
        render_bars(_("Tasks that did not pass, by reason"), reasons, count, chart_id="reasons", names=_("Reason"))
        if reasons
        else "",
        render_bars(
            _("Tasks by time"),
            [ChartBar(each.label, float(each.count)) for each in times],
            count,
            chart_id="times",
            names=_("Time"),
        ),
        render_bars(
            _("Tasks by cost"),
            [ChartBar(each.label, float(each.count)) for each in costs],
            count,
            chart_id="costs",
            names=_("Cost"),
        ),
    ]
    return f'<div class="charts">{"".join(charts)}</div>'


def _groups_table(name: str, groups: Sequence[GroupFigures]) -> str:
    if len(groups) < 2 or groups[0].total < 2:
        return ""
    heading = (name, _("Tasks"), _("Passed"), _("Rate"), _("Cost"), _("Tokens"), _("Time"))
    rows = [
        (
            group.name,
            f"{group.total:,}",
            f"{group.counts.get(TaskStatus.PASSED, 0):,}",
            rate_label(group.pass_rate),
            format_cost(group.cost),
            format_count(group.tokens),
            time_label(group.seconds),
        )
        for group in groups[:_MAX_GROUPS]
    ]
    more = len(groups) - _MAX_GROUPS
    rest = note(ngettext("{count} more row", "{count} more rows", more)) if more > 0 else ""
    return table(heading, rows, caption=name) + rest


class _TaskFiles:
    """Links to the files of a task, relative to the folder of the report."""

    def __init__(self, directory: BatchDirectory, base: str) -> None:
        self._directory = directory
        self._base = base

    def links(self, result: TaskResult) -> str:
        task = _task_directory(self._directory, result)
        named = ((_("patch"), task.patch), (_("transcript"), task.transcript), (_("check output"), task.check))
        return "".join(
            f'<a rel="noopener noreferrer" href="{quote(os.path.relpath(path, self._base))}">{escape_line(name)}</a>'
            for name, path in named
            if os.path.isfile(path)
        )


def _task_directory(directory: BatchDirectory, result: TaskResult) -> TaskDirectory:
    """The folder of a task, which may belong to one of several batches below the directory."""
    return (
        TaskDirectory(os.path.join(directory.path, result.directory)) if result.directory else directory.task(result.id)
    )


def _task_lists(results: Sequence[TaskResult], files: _TaskFiles | None, directory: BatchDirectory) -> str:
    """A list for each state, failed tasks first."""
    order = (TaskStatus.FAILED, TaskStatus.ERROR, TaskStatus.SKIPPED, TaskStatus.PASSED)
    by_status = {status: [each for each in results if each.status is status] for status in order}
    parts: list[str] = []
    excerpts = _Excerpts(directory)
    for status, listed in by_status.items():
        if listed:
            is_open = " open" if len(listed) <= _MAX_OPEN_ROWS and status is not TaskStatus.SKIPPED else ""
            label = escape_line(f"{UNICODE_SIGNS.status[status]} {status_label(status)} ({len(listed):,})")
            summary = f'<summary class="tone-{STATUS_TONES[status].value}">{label}</summary>'
            body = _task_table(listed, files, excerpts)
            parts.append(f'<details class="task-list"{is_open}>{summary}{body}</details>')
    return "".join(parts) + excerpts.note()


class _Excerpts:
    """Ends of the output of failed checks, as many as a page can hold."""

    def __init__(self, directory: BatchDirectory) -> None:
        self._directory = directory
        self._count = 0
        self._left_out = 0

    def markup(self, result: TaskResult) -> str:
        if result.failure not in (TaskFailure.CHECK_FAILED, TaskFailure.CHECK_TIMED_OUT):
            return ""
        if self._count >= _MAX_EXCERPTS:
            self._left_out += 1
            return ""
        excerpt = read_excerpt(_task_directory(self._directory, result).check)
        if not excerpt:
            return ""
        self._count += 1
        return disclosure(
            escape_line(_("End of the check output")), f'<pre class="output">{escape_text(excerpt)}</pre>'
        )

    def note(self) -> str:
        if not self._left_out:
            return ""
        text = ngettext(
            "The check output of {count} more task is in its folder only.",
            "The check output of {count} more tasks is in their folders only.",
            self._left_out,
        )
        return note(text)


def _task_table(results: Iterable[TaskResult], files: _TaskFiles | None, excerpts: _Excerpts) -> str:
    head = (
        f'<thead><tr><th scope="col">{escape_line(_("Task"))}</th>'
        f'<th scope="col">{escape_line(_("Time"))}</th><th scope="col">{escape_line(_("Cost"))}</th>'
        f'<th scope="col" class="wide">{escape_line(_("Tokens"))}</th>'
        f'<th scope="col" class="wide">{escape_line(_("Lines"))}</th></tr></thead>'
    )
    rows = "".join(_task_row(result, files, excerpts) for result in results)
    return f'<table class="tasks">{head}<tbody>{rows}</tbody></table>'


def _task_row(result: TaskResult, files: _TaskFiles | None, excerpts: _Excerpts) -> str:
    detail = one_line(reason_detail(result))[:_MAX_MESSAGE_CHARS]
    reason = ": ".join(filter(None, (reason_label(result), detail)))
    links = files.links(result) if files is not None else ""
    task = (
        escape_line(one_line(result.id))
        + (f'<p class="reason">{escape_line(reason)}</p>' if reason else "")
        + (f'<p class="links">{links}</p>' if links else "")
        + excerpts.markup(result)
    )
    cost = cost_label(result.cost) if result.cost is not None or result.tokens else ""
    return (
        f'<tr><th scope="row">{task}</th><td>{time_label(result.seconds) if result.seconds else ""}</td><td>{cost}</td>'
        f'<td class="wide">{format_count(result.tokens) if result.tokens else ""}</td>'
        f'<td class="wide">{lines_label(result.lines_added, result.lines_removed)}</td></tr>\n'
    )

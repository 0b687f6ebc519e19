"""The report of a batch for a terminal: totals first, then the tasks that did not pass."""

from collections.abc import Callable, Iterable, Sequence

from tejat.batch.report.figures import BatchFigures, GroupFigures, ValueSpread
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.text.columns import one_line, wrap_rows
from tejat.batch.text.grid import grid_rows
from tejat.batch.text.labels import (
    STATUS_TONES,
    cost_label,
    count_labels,
    failure_label,
    lines_label,
    reason_detail,
    reason_label,
    status_label,
    time_label,
)
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.i18n import _, ngettext
from tejat.core.ui.report import Tone
from tejat.ui.shared.labels.run_summary import format_cost, format_count

_MAX_GROUPS = 10
_MAX_DETAIL_ROWS = 4
_FIRST_STATUSES = (TaskStatus.FAILED, TaskStatus.ERROR, TaskStatus.SKIPPED, TaskStatus.PASSED)


def render(
    figures: BatchFigures, results: Iterable[TaskResult], style: TerminalStyle, width: int, *, shows_all: bool = False
) -> str:
    """Render the report in lines of at most `width` columns. With `shows_all` passed tasks are listed too."""
    blocks = [
        _totals(figures, style, width),
        _failures(figures, style, width),
        _groups(_("MODEL"), figures.models, style, width),
        _groups(_("REPOSITORY"), figures.repositories, style, width),
        _tasks(figures, results, style, width, shows_all=shows_all),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def rate_label(rate: float | None) -> str:
    """A share as `81 %`, with a decimal where rounding would claim all or nothing."""
    if rate is None:
        return "?"
    is_rounded_away = round(rate, 2) in (0.0, 1.0) and rate not in (0.0, 1.0)
    return _("{percent} %", percent=f"{100 * rate:.{1 if is_rounded_away else 0}f}")


def interval_label(interval: tuple[float, float]) -> str:
    low, high = (f"{100 * bound:.0f}" for bound in interval)
    return _("95 % interval {low} to {high} %", low=low, high=high)


def sorted_results(results: Iterable[TaskResult]) -> list[TaskResult]:
    """The results, failed ones and errors first, else in their order."""
    order = {status: number for number, status in enumerate(_FIRST_STATUSES)}
    return sorted(results, key=lambda result: order[result.status])


def _totals(figures: BatchFigures, style: TerminalStyle, width: int) -> list[str]:
    total = ngettext("{count} task", "{count} tasks", figures.total)
    if not figures.total:
        return [_("No results yet.")]
    counts = style.signs.separator.join(count_labels(figures.counts).values())
    lines = wrap_rows(style.encodable(f"{total}: {counts}"), width, indent="  ")
    lines[0] = style.paint(lines[0], Tone.STRONG)
    rows = [(name, value) for name, value in _facts(figures, style) if value]
    names = max((len(name) for name, _value in rows), default=0)
    for name, value in rows:
        lines += wrap_rows(style.encodable(f"{name:{names}}  {value}"), width, indent=" " * (names + 2))
    return lines


def _facts(figures: BatchFigures, style: TerminalStyle) -> list[tuple[str, str]]:
    join = style.signs.separator.join
    rate, interval = figures.pass_rate, figures.pass_interval
    passed = "" if rate is None or interval is None else f"{rate_label(rate)} ({interval_label(interval)})"
    costs = [format_cost(figures.cost.total), *_spread_labels(figures.cost, format_cost)] if figures.cost.count else []
    if figures.cost_per_pass is not None and figures.cost_per_pass:
        costs.append(_("{cost} per passed task", cost=format_cost(figures.cost_per_pass)))
    if figures.unknown_costs:
        costs.append(ngettext("{count} price unknown", "{count} prices unknown", figures.unknown_costs))
    times = [time_label(figures.seconds.total), *_spread_labels(figures.seconds, time_label)]
    if figures.wall_seconds:
        times.append(_("{time} from start to end", time=time_label(figures.wall_seconds)))
    usage = [format_count(figures.tokens), ngettext("{count} tool call", "{count} tool calls", figures.tool_calls)]
    if figures.denied_calls:
        usage.append(ngettext("{count} denied", "{count} denied", figures.denied_calls))
    if figures.retries:
        usage.append(ngettext("{count} retry", "{count} retries", figures.retries))
    changes = [
        ngettext("{count} file", "{count} files", figures.files_changed),
        lines_label(figures.lines_added, figures.lines_removed),
    ]
    return [
        (_("Passed"), passed),
        (_("Cost"), join(costs)),
        (_("Time"), join(times) if figures.seconds.count else ""),
        (_("Tokens"), join(usage) if figures.tokens else ""),
        (_("Changes"), join(filter(None, changes)) if figures.files_changed else ""),
    ]


def _spread_labels(values: ValueSpread, label: Callable[[float], str]) -> list[str]:
    if values.count < 2:
        return []
    return [
        _("mean {value}", value=label(values.mean)),
        _("median {value}", value=label(values.median)),
        _("90 % within {value}", value=label(values.p90)),
    ]


def _failures(figures: BatchFigures, style: TerminalStyle, width: int) -> list[str]:
    rows = [(f"{count:,}", failure_label(failure)) for failure, count in figures.failures.items()]
    if not rows:
        return []
    return grid_rows((_("TASKS"), _("REASON")), rows, style, width, numeric=(0,), name_column=1)


def _groups(name: str, groups: Sequence[GroupFigures], style: TerminalStyle, width: int) -> list[str]:
    if len(groups) < 2 or groups[0].total < 2:
        return []  # with a task for each, the list of tasks shows the same
    rows = [
        (
            f"{group.total:,}",
            f"{group.counts.get(TaskStatus.PASSED, 0):,}",
            rate_label(group.pass_rate),
            format_cost(group.cost),
            time_label(group.seconds),
            group.name,
        )
        for group in groups[:_MAX_GROUPS]
    ]
    heading = (_("TASKS"), _("PASSED"), _("RATE"), _("COST"), _("TIME"), name)
    lines = grid_rows(heading, rows, style, width, numeric=range(5), name_column=5, optional=(4, 3, 1))
    if len(groups) > _MAX_GROUPS:
        lines.append(ngettext("{count} more row", "{count} more rows", len(groups) - _MAX_GROUPS))
    return lines


def _tasks(
    figures: BatchFigures, results: Iterable[TaskResult], style: TerminalStyle, width: int, *, shows_all: bool
) -> list[str]:
    listed = sorted_results(each for each in results if shows_all or each.status is not TaskStatus.PASSED)
    rows = [_task_row(result, style) for result in listed]
    tones = [STATUS_TONES[result.status] for result in listed]
    heading = (_("STATUS"), _("TASK"), _("TIME"), _("COST"), _("RESULT"))
    lines = (
        grid_rows(heading, rows, style, width, numeric=(2, 3), tones=tones, name_column=1, optional=(3, 2))
        if rows
        else []
    )
    for number in range(len(listed), 0, -1):
        lines[number + 1 : number + 1] = _detail_rows(listed[number - 1], style, width)
    passed = figures.counts.get(TaskStatus.PASSED, 0)
    if passed and not shows_all:
        hidden = ngettext("{count} passed task not listed.", "{count} passed tasks not listed.", passed)
        lines.append(style.paint(hidden, Tone.QUIET))
    return lines


def _detail_rows(result: TaskResult, style: TerminalStyle, width: int) -> list[str]:
    """The message of a task that was tried, in rows below it."""
    detail = "" if result.status in (TaskStatus.PASSED, TaskStatus.SKIPPED) else one_line(reason_detail(result))
    if not detail:
        return []
    text = style.encodable(f"    {detail}")
    return wrap_rows(text, width, indent=" " * 4, max_rows=_MAX_DETAIL_ROWS, mark=style.signs.cut)


def _task_row(result: TaskResult, style: TerminalStyle) -> tuple[str, ...]:
    is_passed = result.status is TaskStatus.PASSED
    outcome = lines_label(result.lines_added, result.lines_removed) if is_passed else reason_label(result)
    return (
        f"{style.signs.status[result.status]} {status_label(result.status)}",
        result.id,
        time_label(result.seconds) if result.seconds else "",
        cost_label(result.cost) if result.cost is not None or result.tokens else "",
        outcome,
    )

"""The comparison of two batches as one HTML file."""

from collections.abc import Sequence

from tejat.batch.report.comparison import BatchComparison, PairOutcome, TaskPair
from tejat.batch.report.comparison_words import OUTCOME_ORDER, outcome_label, paired_lines, total_rows, verdict
from tejat.batch.report.page import batch_page, note, section
from tejat.batch.result import TaskResult
from tejat.batch.text.columns import one_line
from tejat.batch.text.labels import STATUS_TONES, cost_label, status_label, time_label
from tejat.batch.text.terminal_style import UNICODE_SIGNS
from tejat.core.i18n import _
from tejat.ui.html.charts.bars import ChartBar, render_bars
from tejat.ui.html.charts.scale import ChartUnit
from tejat.ui.html.charts.svg import table
from tejat.ui.html.markup import escape_line

_MAX_OPEN_ROWS = 200
_LIST_ORDER = (
    *(PairOutcome.ONLY_FIRST, PairOutcome.ONLY_SECOND, PairOutcome.NEITHER),
    *(PairOutcome.UNTRIED, PairOutcome.MISSING, PairOutcome.BOTH_PASSED),
)
_OPEN = (PairOutcome.ONLY_FIRST, PairOutcome.ONLY_SECOND)


def render_comparison_page(compared: BatchComparison) -> str:
    """Render the comparison: the verdict first, then totals, a chart, and the tasks by outcome."""
    names = one_line(compared.first_name), one_line(compared.second_name)
    heading = (_("Figure"), *names)
    bars = [ChartBar(_bar_label(each, names), float(compared.count(each))) for each in OUTCOME_ORDER]
    chart = render_bars(_("Tasks by outcome"), bars, ChartUnit.COUNT, chart_id="outcomes", names=_("Outcome"))
    return batch_page(
        _("{first} and {second}", first=names[0], second=names[1]),
        [],
        [
            f'<p class="verdict">{escape_line(one_line(verdict(compared)))}</p>',
            "".join(note(one_line(line)) for line in paired_lines(compared)),
            section(_("Totals"), table(heading, total_rows(compared), caption=_("Totals"))),
            section(_("Outcomes"), chart),
            section(_("Tasks"), "".join(_task_list(outcome, compared, names) for outcome in _LIST_ORDER)),
        ],
    )


def _bar_label(outcome: PairOutcome, names: Sequence[str]) -> str:
    """A label that fits beside a bar."""
    match outcome:
        case PairOutcome.BOTH_PASSED:
            return _("both passed")
        case PairOutcome.ONLY_FIRST:
            return _("only {name}", name=names[0])
        case PairOutcome.ONLY_SECOND:
            return _("only {name}", name=names[1])
        case PairOutcome.NEITHER:
            return _("both failed")
        case PairOutcome.UNTRIED:
            return _("not compared")
        case PairOutcome.MISSING:
            return _("in one batch only")


def _task_list(outcome: PairOutcome, compared: BatchComparison, names: Sequence[str]) -> str:
    pairs = [pair for pair in compared.pairs if pair.outcome is outcome]
    if not pairs:
        return ""
    is_open = " open" if outcome in _OPEN and len(pairs) <= _MAX_OPEN_ROWS else ""
    label = escape_line(one_line(f"{outcome_label(outcome, compared)} ({len(pairs):,})"))
    head = "".join(f'<th scope="col" class="words">{escape_line(name)}</th>' for name in names)
    for name in (_("Cost"), _("Time")):
        head += f'<th scope="colgroup" colspan="2" class="wide">{escape_line(name)}</th>'
    rows = "".join(map(_task_row, pairs))
    return (
        f'<details class="task-list"{is_open}><summary>{label}</summary><table class="tasks"><thead><tr>'
        f'<th scope="col">{escape_line(_("Task"))}</th>{head}</tr></thead><tbody>{rows}</tbody></table></details>'
    )


def _task_row(pair: TaskPair) -> str:
    sides = (pair.first, pair.second)
    cells = "".join(map(_status_cell, sides))
    for label in (_cost, _time):
        cells += "".join(f'<td class="wide">{escape_line(label(side))}</td>' for side in sides)
    return f'<tr><th scope="row">{escape_line(one_line(pair.id))}</th>{cells}</tr>\n'


def _status_cell(result: TaskResult | None) -> str:
    if result is None:
        return '<td class="words">-</td>'
    label = escape_line(f"{UNICODE_SIGNS.status[result.status]} {status_label(result.status)}")
    return f'<td class="words tone-{STATUS_TONES[result.status].value}">{label}</td>'


def _cost(result: TaskResult | None) -> str:
    return "" if result is None or (result.cost is None and not result.tokens) else cost_label(result.cost)


def _time(result: TaskResult | None) -> str:
    return "" if result is None or not result.seconds else time_label(result.seconds)

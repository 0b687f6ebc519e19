"""The comparison of two batches for a terminal."""

from tejat.batch.report.comparison import BatchComparison, PairOutcome, TaskPair
from tejat.batch.report.comparison_words import OUTCOME_ORDER, outcome_label, paired_lines, total_rows, verdict
from tejat.batch.result import TaskResult
from tejat.batch.text.columns import cut_middle, one_line, wrap_rows
from tejat.batch.text.grid import grid_rows
from tejat.batch.text.labels import cost_label, status_label, time_label
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.i18n import _, ngettext
from tejat.core.ui.report import Tone

_DIFFERENT = (PairOutcome.ONLY_FIRST, PairOutcome.ONLY_SECOND)
_MIN_NAME = 8


def render_comparison(compared: BatchComparison, style: TerminalStyle, width: int, *, shows_all: bool = False) -> str:
    """Render the comparison in lines of at most `width` columns. With `shows_all` all tasks are listed.

    Otherwise only those are that one of the batches passed.
    """
    heading = ("", *_names(compared, style, width))
    totals = grid_rows(heading, total_rows(compared), style, width, numeric=(1, 2))
    counts = [(f"{compared.count(each):,}", outcome_label(each, compared)) for each in OUTCOME_ORDER]
    outcomes = grid_rows((_("TASKS"), _("OUTCOME")), counts, style, width, numeric=(0,), name_column=1)
    paired = [row for line in paired_lines(compared) for row in _wrapped(line, style, width)]
    conclusion = [style.paint(row, Tone.STRONG) for row in _wrapped(verdict(compared), style, width)]
    tasks = _tasks(compared, style, width, shows_all=shows_all)
    return "\n\n".join("\n".join(block) for block in (totals, outcomes, conclusion, paired, tasks) if block)


def _names(compared: BatchComparison, style: TerminalStyle, width: int) -> tuple[str, str]:
    """The names of the batches as headings, which leave room for other columns."""
    room = max(width // 4, _MIN_NAME)
    first, second = (one_line(name) for name in (compared.first_name, compared.second_name))
    return cut_middle(first, room, style.signs.cut), cut_middle(second, room, style.signs.cut)


def _wrapped(text: str, style: TerminalStyle, width: int) -> list[str]:
    return wrap_rows(style.encodable(one_line(text)), width)


def _tasks(compared: BatchComparison, style: TerminalStyle, width: int, *, shows_all: bool) -> list[str]:
    listed = [pair for pair in compared.pairs if shows_all or pair.outcome in _DIFFERENT]
    listed.sort(key=lambda pair: _LIST_ORDER.index(pair.outcome))
    rows = [_task_row(pair, style) for pair in listed]
    heading = (_("TASK"), *_names(compared, style, width), _("COST"), _("TIME"))
    lines = grid_rows(heading, rows, style, width, optional=(4, 3)) if rows else []
    hidden = len(compared.pairs) - len(listed)
    if hidden:
        note = ngettext("{count} other task not listed.", "{count} other tasks not listed.", hidden)
        lines.append(style.paint(note, Tone.QUIET))
    return lines


_LIST_ORDER = (*_DIFFERENT, *(each for each in OUTCOME_ORDER if each not in _DIFFERENT))


def _task_row(pair: TaskPair, style: TerminalStyle) -> tuple[str, ...]:
    sides = (pair.first, pair.second)
    return (
        pair.id,
        *(_status(side, style) for side in sides),
        " / ".join("-" if side is None else cost_label(side.cost) for side in sides),
        " / ".join("-" if side is None else time_label(side.seconds) for side in sides),
    )


def _status(result: TaskResult | None, style: TerminalStyle) -> str:
    return "-" if result is None else f"{style.signs.status[result.status]} {status_label(result.status)}"

"""Finished tasks, retries and notices as rows of a terminal or lines of a log."""

from tejat.batch.events import BatchNoticed, TaskRetried
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.text.columns import cut_middle, one_line, pad_end, pad_start, wrap_rows
from tejat.batch.text.labels import STATUS_TONES, cost_label, lines_label, reason_line, status_label, time_label
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.i18n import _
from tejat.core.ui.report import Tone

_MAX_ROWS = 3
"""Rows of a long message. The whole one is in the results."""
_TIME_WIDTH, _COST_WIDTH = 11, 8
_WIDE = 72
"""Columns from which the state is written out beside its sign."""


def result_rows(result: TaskResult, style: TerminalStyle, width: int, id_width: int) -> list[str]:
    """A finished task: one row, further ones only for a long message."""
    sign, tone = style.signs.status[result.status], STATUS_TONES[result.status]
    shown = pad_end(cut_middle(one_line(result.id), id_width, style.signs.cut), id_width)
    facts = [f"{sign} {shown}", *_figures(result, is_wide=width >= _WIDE)]
    if result.status is TaskStatus.PASSED:
        facts.append(lines_label(result.lines_added, result.lines_removed))
    else:
        facts.append(one_line(reason_line(result)))
    return _rows("  ".join(facts).rstrip(), sign, style, width, tone)


def result_line(result: TaskResult, style: TerminalStyle) -> str:
    """A finished task as a line of a log, without padding."""
    facts = [f"{style.signs.status[result.status]} {one_line(result.id)}", status_label(result.status)]
    if result.seconds:
        facts.append(time_label(result.seconds))
    if result.cost is not None:
        facts.append(cost_label(result.cost))
    if result.status is TaskStatus.PASSED:
        facts.append(lines_label(result.lines_added, result.lines_removed))
    else:
        facts.append(one_line(reason_line(result)))
    return style.encodable("  ".join(filter(None, facts)))


def retry_text(event: TaskRetried) -> str:
    """A retry as a safe line."""
    return _(
        "{id}: attempt {attempt} failed, next one in {time}: {reason}",
        id=one_line(event.id),
        attempt=event.attempt,
        time=time_label(event.wait_seconds),
        reason=one_line(event.reason),
    )


def retry_rows(event: TaskRetried, style: TerminalStyle, width: int) -> list[str]:
    return _rows(f"{style.signs.retry} {retry_text(event)}", style.signs.retry, style, width, Tone.QUIET)


def notice_rows(event: BatchNoticed, style: TerminalStyle, width: int) -> list[str]:
    return _rows(
        f"{style.signs.notice} {one_line(event.message)}", style.signs.notice, style, width, Tone.WARNING, max_rows=0
    )


def _figures(result: TaskResult, *, is_wide: bool) -> list[str]:
    """State, time and cost in columns; on a narrow terminal only what a task that ran has."""
    if not is_wide:
        return [time_label(result.seconds)] if result.seconds else []
    state = pad_end(status_label(result.status), 7)
    time = pad_start(time_label(result.seconds) if result.seconds else "", _TIME_WIDTH)
    return [state, time, pad_start("" if result.cost is None else cost_label(result.cost), _COST_WIDTH)]


def _rows(
    text: str, sign: str, style: TerminalStyle, width: int, tone: Tone, *, max_rows: int = _MAX_ROWS
) -> list[str]:
    text = style.encodable(text)
    rows = wrap_rows(text, width, indent="  ", max_rows=max_rows, mark=style.signs.cut)
    if rows and rows[0].startswith(sign):
        rows[0] = style.paint(sign, tone) + rows[0][len(sign) :]
    return rows

"""The live area of a running batch: running tasks, a bar and the summary."""

from collections.abc import Sequence
from itertools import islice

from tejat.batch.progress.summary import summary_line
from tejat.batch.progress.tally import BatchTally, RunningTask
from tejat.batch.result import TaskStatus
from tejat.batch.text.columns import cut_end, cut_middle, one_line, pad_end, pad_start
from tejat.batch.text.labels import STATUS_ORDER, STATUS_TONES, phase_label
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.i18n import _, ngettext
from tejat.core.ui.report import Tone
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.terminal.render.cells import text_width

_FIXED_ROWS = 3
"""Bar, summary, and the row of the cursor."""
_MIN_ROWS_WITH_TASKS = 6
_MAX_BAR = 60
_PHASE_WIDTH = 9
_TIME_WIDTH = 11
_MIN_ACTIVITY = 6
_PLAIN_BAR = {TaskStatus.PASSED: "#", TaskStatus.FAILED: "x", TaskStatus.ERROR: "!", TaskStatus.SKIPPED: "-"}
"""Without colours the parts of the bar have signs of their own."""


def live_rows(
    tally: BatchTally, now: float, style: TerminalStyle, size: tuple[int, int], *, id_width: int
) -> list[str]:
    """The rows of the live area, each narrower than the terminal. `size` is columns and rows."""
    columns, rows = size
    width = max(columns - 1, 1)
    tasks = _task_rows(tally, now, style, width, max_rows=_task_room(rows), id_width=id_width)
    bar = [_bar(tally, style, width)] if rows > _FIXED_ROWS else []
    return [*tasks, *bar, summary_line(tally, now, style, width)]


def _task_room(rows: int) -> int:
    """Rows for running tasks: a third of the screen stays for those that are done."""
    return max(rows * 2 // 3 - _FIXED_ROWS, 1) if rows >= _MIN_ROWS_WITH_TASKS else 0


def _task_rows(
    tally: BatchTally, now: float, style: TerminalStyle, width: int, *, max_rows: int, id_width: int
) -> list[str]:
    count = len(tally.running)
    shown = count if count <= max_rows else max_rows - 1
    if shown < 0:
        return []
    rows = [_task_row(task, now, style, width, id_width) for task in islice(tally.running.values(), shown)]
    if count > shown:
        more = ngettext("+{count} more", "+{count} more", count - shown)
        rows.append(style.paint(cut_end(f"  {style.encodable(more)}", width, style.signs.cut), Tone.QUIET))
    return rows


def _task_row(task: RunningTask, now: float, style: TerminalStyle, width: int, id_width: int) -> str:
    """Id, phase, activity and time. Where there is no room, first the activity is left out, then the phase."""
    cut = style.signs.cut
    shown = style.encodable(pad_end(cut_middle(one_line(task.id), id_width, cut), id_width))
    begin = f"{style.signs.running} {shown}"
    time = style.encodable(format_elapsed(now - task.started))
    phase = style.encodable(pad_end(cut_end(phase_label(task.phase), _PHASE_WIDTH, cut), _PHASE_WIDTH))
    begin_with_phase = f"{begin}  {phase}  "
    room = width - text_width(begin_with_phase) - max(text_width(time), _TIME_WIDTH)
    if room < _MIN_ACTIVITY:
        has_room = text_width(begin_with_phase) + text_width(time) <= width
        return cut_end(f"{begin_with_phase if has_room else begin + '  '}{time}", width, cut)
    words = one_line(task.activity)
    if task.attempt > 1:
        words = " ".join(filter(None, (_("(attempt {number})", number=task.attempt), words)))
    activity = pad_end(cut_end(style.encodable(words), room, cut), room)
    return f"{begin_with_phase}{style.paint(activity, Tone.QUIET)}{pad_start(time, _TIME_WIDTH)}"


def _bar(tally: BatchTally, style: TerminalStyle, width: int) -> str:
    total = max(tally.total, tally.done, 1)
    percent = f"{100 * tally.done // total:3d} %"
    length = max(min(width, _MAX_BAR) - len(percent) - 1, 0)
    parts = _bar_parts([tally.counts[status] for status in STATUS_ORDER], total, length)
    drawn = "".join(
        style.paint(style.signs.bar * part, STATUS_TONES[status]) if style.is_coloured else _PLAIN_BAR[status] * part
        for status, part in zip(STATUS_ORDER, parts, strict=True)
    )
    rest = length - sum(parts)
    drawn += style.paint(style.signs.bar * rest, Tone.QUIET) if style.is_coloured else "." * rest
    return cut_end(percent.strip(), width, "") if not length else f"{drawn} {percent}"


def _bar_parts(counts: Sequence[int], total: int, length: int) -> list[int]:
    """The columns of each state. One that occurs gets at least one column if there is room."""
    parts, seen, end = list[int](), 0, 0
    for count in counts:
        seen += count
        part = max(seen * length // total - end, 1 if count else 0)
        part = min(part, length - end)
        parts.append(part)
        end += part
    return parts

"""Rows of running and finished tool calls."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.tools.call_events import CallState
from tejat.ui.shared.call_report import CallReport, CallStatus, status_label
from tejat.ui.shared.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow, hanging_paragraph, render_row, segments_fit
from tejat.ui.terminal.render.theme import Glyphs, StyleRole, Theme
from tejat.ui.terminal.views.collapsible import CollapsibleText

_MIN_TITLE_COLUMNS = 12
_MAX_LIVE_CHARS = 400


@frozen
class RunningCall:
    """A call that has not finished. `since` is when it started running, `output` its output so far."""

    title: str
    state: CallState
    since: float
    output: str = ""


class FinishedCallRow:
    """Status, title, note, exit code and duration; the reason of a failure below."""

    def __init__(self, report: CallReport, theme: Theme) -> None:
        self._report = report
        self._theme = theme

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, theme, width = self._report, self._theme, options.max_width
        glyph, part = _status_sign(report.status, theme.glyphs)
        word = RowSegment(f"{glyph} {status_label(report.status)}", part)
        changed = RowSegment(f" {report.line_counts}" if report.line_counts else "")
        head = [word, RowSegment(f" {report.name} {report.subject}".rstrip(), is_shrinkable=True), changed]
        facts = [RowSegment(f" {theme.glyphs.separator} {fact}", StyleRole.QUIET) for fact in report.facts]
        note = RowSegment(f" {theme.glyphs.separator} {report.note}", StyleRole.QUIET)
        if report.note and segments_fit([*head, note, *facts], width=width):
            yield render_row([*head, note, *facts], theme, width=width)
            return
        if segments_fit([word, changed, *facts], width=width - _MIN_TITLE_COLUMNS):
            yield render_row([*head, *facts], theme, width=width)
        else:
            yield render_row(head, theme, width=width)
            yield render_row([RowSegment("  " + ", ".join(report.facts), StyleRole.QUIET)], theme, width=width)
        below = report.error or report.note
        if below:
            part = StyleRole.QUIET if report.status is CallStatus.OK else StyleRole.TEXT
            yield hanging_paragraph(RowSegment(" "), RowSegment(below, part), theme=theme)


def call_details(report: CallReport) -> CollapsibleText | None:
    """Return the collapsible output or diff of a call, if any."""
    if report.diff:
        return CollapsibleText(report.title, report.diff, is_diff=True)
    return CollapsibleText(report.title, report.body) if report.body else None


def running_rows(call: RunningCall, theme: Theme, *, now: float, max_output_rows: int) -> Iterator[RenderableType]:
    """Yield the row of a running call and the tail of its output."""
    glyphs, is_running = theme.glyphs, call.state is CallState.EXECUTING
    waits = _("waits for your answer") if call.state is CallState.AWAITING_APPROVAL else _("waits")
    label = format_elapsed(now - call.since) if is_running else waits
    sign = RowSegment(f"{glyphs.running if is_running else glyphs.waiting} ", StyleRole.ACCENT)
    facts = RowSegment(f" {glyphs.separator} {label}", StyleRole.QUIET)
    yield SingleRow(theme, sign, RowSegment(call.title, is_shrinkable=True), facts)
    if is_running:
        yield from output_rows(call.output, theme, limit=max_output_rows)


def output_rows(output: str, theme: Theme, *, limit: int) -> Iterator[RenderableType]:
    """Yield the last lines of a long text."""
    lines = [line for line in output[-limit * _MAX_LIVE_CHARS :].splitlines() if line.strip()]
    bar = RowSegment(f"  {theme.glyphs.bar} ", StyleRole.QUIET)
    for line in lines[-limit:] if limit > 0 else ():
        yield SingleRow(theme, bar, RowSegment(line[:_MAX_LIVE_CHARS], StyleRole.QUIET))


def _status_sign(status: CallStatus, glyphs: Glyphs) -> tuple[str, StyleRole]:
    return {
        CallStatus.OK: (glyphs.ok, StyleRole.GOOD),
        CallStatus.FAILED: (glyphs.failed, StyleRole.BAD),
        CallStatus.DENIED: (glyphs.denied, StyleRole.WARNING),
        CallStatus.CANCELLED: (glyphs.cancelled, StyleRole.WARNING),
        CallStatus.TIMED_OUT: (glyphs.timed_out, StyleRole.BAD),
    }[status]

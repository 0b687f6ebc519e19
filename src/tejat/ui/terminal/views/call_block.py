"""Finished and running tool calls: a headline, and what belongs to it indented below."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.tools.call_events import CallState
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport
from tejat.ui.shared.calls.title import CallTitle
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow, hanging_paragraph
from tejat.ui.terminal.render.text_rows import single_line, truncate
from tejat.ui.terminal.render.theme import Glyphs, StyleRole, Theme
from tejat.ui.terminal.views.details import Collapsible, CollapsibleDiff, CollapsibleOutput, detail_indents

_MAX_TITLE_ROWS = 3
_MAX_LIVE_CHARS = 400


class RunningCall(Frozen):
    """A call that has not finished. `since` is when it started running, `output` its output so far."""

    title: CallTitle
    state: CallState
    since: float
    output: str = ""
    is_exploration: bool = False


class FinishedCall:
    """The headline of a finished call; below it why it failed, what the user said, or a result of one line."""

    def __init__(self, report: CallReport, theme: Theme) -> None:
        self._report = report
        self._theme = theme

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, theme, width = self._report, self._theme, options.max_width
        sign, role = status_sign(report.status, theme.glyphs)
        yield hanging_paragraph(RowSegment(sign, role), *headline_segments(report, theme, width=width), theme=theme)
        corner, indent = detail_indents(theme, width)
        for text, part in _lines_below(report):
            yield hanging_paragraph(RowSegment(corner[:-1], StyleRole.QUIET), RowSegment(text, part), theme=theme)
            corner = indent


def headline_segments(report: CallReport, theme: Theme, *, width: int) -> list[RowSegment]:
    """Return the headline in segments; a long object is truncated."""
    title, role = report.title, _detail_role(report.status)
    shown = truncate(single_line(title.object), max(_MAX_TITLE_ROWS * (width - 2), 1), theme)
    segments = [RowSegment(title.verb, StyleRole.STRONG), RowSegment(f" {shown}" if shown else "")]
    if title.tail:
        segments.append(RowSegment(f" {title.tail}"))
    for count in report.line_counts.split():
        colour = StyleRole.ADDED if count.startswith("+") else StyleRole.REMOVED
        segments += [RowSegment(" "), RowSegment(count, colour)]
    if title.details:
        segments.append(RowSegment(f" ({', '.join(title.details)})", role))
    return segments


def call_details(report: CallReport) -> Collapsible | None:
    """Return the collapsible output or diff of a call, if any."""
    if report.diff:
        return CollapsibleDiff(report.headline, report.diff, file_name=report.title.object)
    if not report.body and not report.command:
        return None
    is_failure = report.status is not CallStatus.OK
    role = StyleRole.TEXT if is_failure else StyleRole.QUIET
    return CollapsibleOutput(report.headline, report.body, is_failure=is_failure, role=role, command=report.command)


def status_sign(status: CallStatus, glyphs: Glyphs) -> tuple[str, StyleRole]:
    """Return the sign of a status and its role. The user's own no is not drawn as a failure."""
    return {
        CallStatus.OK: (glyphs.ok, StyleRole.GOOD),
        CallStatus.FAILED: (glyphs.failed, StyleRole.BAD),
        CallStatus.DENIED: (glyphs.denied, StyleRole.WARNING),
        CallStatus.REJECTED: (glyphs.bullet, StyleRole.QUIET),
        CallStatus.CANCELLED: (glyphs.cancelled, StyleRole.WARNING),
        CallStatus.TIMED_OUT: (glyphs.timed_out, StyleRole.BAD),
    }[status]


def running_rows(
    call: RunningCall, theme: Theme, *, now: float, max_output_rows: int, shows_hint: bool
) -> Iterator[RenderableType]:
    """Yield the row of a running call, with "Esc to stop" if it `shows_hint`, and the tail of its output."""
    is_running = call.state is CallState.EXECUTING
    facts = [*call.title.details, format_elapsed(now - call.since) if is_running else _("waiting")]
    if shows_hint and is_running:
        facts.append(_("Esc to stop"))
    yield title_row(call.title, facts, theme, is_running=is_running)
    if is_running:
        yield from output_rows(call.output, theme, limit=max_output_rows)


def title_row(title: CallTitle, facts: Sequence[str], theme: Theme, *, is_running: bool) -> SingleRow:
    """Return a title and facts about it in one row of the live area."""
    glyphs = theme.glyphs
    words = " ".join(filter(None, (title.object, title.tail)))
    return SingleRow(
        theme,
        RowSegment(f"{glyphs.running if is_running else glyphs.waiting} ", StyleRole.ACCENT),
        RowSegment(title.verb, StyleRole.STRONG),
        RowSegment(f" {words}" if words else "", is_shrinkable=True),
        RowSegment(f" ({', '.join(facts)})" if facts else "", StyleRole.QUIET),
    )


def output_rows(output: str, theme: Theme, *, limit: int) -> Iterator[RenderableType]:
    """Yield the last lines of a long text."""
    lines = [line for line in output[-limit * _MAX_LIVE_CHARS :].splitlines() if line.strip()]
    bar = RowSegment(f"  {theme.glyphs.bar} ", StyleRole.QUIET)
    for line in lines[-limit:] if limit > 0 else ():
        yield SingleRow(theme, bar, RowSegment(line[:_MAX_LIVE_CHARS], StyleRole.QUIET))


def _lines_below(report: CallReport) -> Iterator[tuple[str, StyleRole]]:
    if report.reason:
        yield report.reason, StyleRole.TEXT
    if report.feedback:
        yield _("You: {words}", words=report.feedback), StyleRole.TEXT
    if report.note:
        yield report.note, StyleRole.QUIET


def _detail_role(status: CallStatus) -> StyleRole:
    if status in (CallStatus.FAILED, CallStatus.TIMED_OUT):
        return StyleRole.BAD
    return StyleRole.WARNING if status in (CallStatus.DENIED, CallStatus.CANCELLED) else StyleRole.QUIET

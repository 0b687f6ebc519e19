"""Explorations: neighbouring reads, searches and listings under one line."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport
from tejat.ui.shared.calls.title import CallTitle
from tejat.ui.shared.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, StyledRun, WrappedLines, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.call_block import FinishedCall, RunningCall, status_sign, title_row
from tejat.ui.terminal.views.details import detail_indents

_READ_TOOL = "read_file"


def render_exploration(reports: Sequence[CallReport], theme: Theme) -> RenderableType:
    """Render finished calls: a single one by itself, several below "Explored"."""
    if len(reports) == 1:
        return FinishedCall(reports[0], theme)
    heading = [(part.text, theme.style(part.role)) for part in _heading(reports, theme)]

    def layout(width: int) -> Iterator[StyledLine]:
        yield heading
        yield from _child_lines(_join_reads(reports), theme, width)

    return WrappedLines(layout)


def exploration_rows(
    reports: Sequence[CallReport], running: Sequence[RunningCall], theme: Theme, *, now: float, max_rows: int
) -> Iterator[RenderableType]:
    """Yield the rows of an exploration that may go on: finished calls, then those that run."""
    elapsed = format_elapsed(now - min((call.since for call in running), default=now))
    if not running and len(reports) == 1:
        yield FinishedCall(reports[0], theme)
        return
    if not reports and len(running) == 1:
        facts = [*running[0].title.details, elapsed, _("Esc to stop")]
        yield title_row(running[0].title, facts, theme, is_running=True)
        return
    if running:
        yield title_row(CallTitle(_("Exploring")), [elapsed, _("Esc to stop")], theme, is_running=True)
    else:
        yield SingleRow(theme, *_heading(reports, theme))
    children = [*_join_reads(reports), *(_Child(str(call.title)) for call in running)]
    yield from _child_rows(children, theme, max_rows=max(max_rows - 1, 1))


def _heading(reports: Sequence[CallReport], theme: Theme) -> tuple[RowSegment, RowSegment]:
    has_success = any(report.status is CallStatus.OK for report in reports)
    sign, role = status_sign(CallStatus.OK if has_success else reports[-1].status, theme.glyphs)
    return RowSegment(f"{sign} ", role), RowSegment(_("Explored"), StyleRole.STRONG)


@frozen
class _Child:
    """A line below "Explored", and why it failed if it did."""

    text: str
    status: CallStatus = CallStatus.OK
    reason: str = ""


def _join_reads(reports: Sequence[CallReport]) -> list[_Child]:
    """Return a line for each call; files that were read one after the other share a line."""
    children: list[_Child] = []
    can_join = False
    for report in reports:
        is_read = report.tool == _READ_TOOL and report.status is CallStatus.OK
        if is_read and can_join:
            shown = report.headline.removeprefix(report.title.verb).strip()
            children[-1] = _Child(f"{children[-1].text}, {shown}")
        else:
            children.append(_Child(report.headline, report.status, report.reason))
        can_join = is_read
    return children


def _child_lines(children: Sequence[_Child], theme: Theme, width: int) -> Iterator[StyledLine]:
    first, others = detail_indents(theme, width)
    room, indent = max(width - len(others), 1), [(others, NO_STYLE)]
    start: StyledLine = [(first, theme.style(StyleRole.QUIET))]
    for child in children:
        if child.status is not CallStatus.OK:
            sign, role = status_sign(child.status, theme.glyphs)
            start = [(f"{others[:-2]}{sign} ", theme.style(role))]
        runs: list[StyledRun] = [(child.text, NO_STYLE)]
        if child.reason:
            runs.append((f": {child.reason}", NO_STYLE))
        yield from prefix_lines(wrap_runs(runs, room), start, indent)
        start = indent


def _child_rows(children: Sequence[_Child], theme: Theme, *, max_rows: int) -> Iterator[RenderableType]:
    """Yield the last children, one row each."""
    shown = children[-max_rows:]
    hidden = len(children) - len(shown)
    if hidden:
        shown = shown[1:]
        more = _("{count} more", count=hidden + 1)
        yield SingleRow(theme, RowSegment(f"    {theme.glyphs.more} {more}", StyleRole.QUIET))
    for at, child in enumerate(shown):
        start = f"  {theme.glyphs.corner} " if at == 0 and not hidden else "    "
        yield SingleRow(theme, RowSegment(start, StyleRole.QUIET), RowSegment(child.text))

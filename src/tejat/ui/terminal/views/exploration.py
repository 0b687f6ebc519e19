"""Explorations: neighbouring reads, searches and listings under one line."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport
from tejat.ui.shared.calls.title import CallTitle
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, StyledRun, WrappedLines, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.call_block import FinishedCall, RunningCall, status_sign, title_row
from tejat.ui.terminal.views.details import detail_indents

_READ_TOOL = "read_file"
_MAX_CHILDREN = 10
"""Most lines of a printed exploration, besides failures."""


class Exploration:
    """Finished calls: a single one by itself, several below "Explored". Of very many, both ends and the failures."""

    def __init__(self, reports: Sequence[CallReport]) -> None:
        self._reports = reports
        self._children = _join_reads(reports)

    @property
    def has_heading(self) -> bool:
        return len(self._reports) > 1

    @property
    def fits_collapsed(self) -> bool:
        return len(self._children) <= _MAX_CHILDREN

    def render_collapsed(self, theme: Theme) -> RenderableType:
        return self._render(self._children if self.fits_collapsed else _fold(self._children, theme), theme)

    def render_whole(self, theme: Theme) -> RenderableType:
        return self._render(self._children, theme)

    def render_expanded(self, theme: Theme) -> RenderableType:
        return self.render_whole(theme)

    def _render(self, children: Sequence["_Child"], theme: Theme) -> RenderableType:
        if not self.has_heading:
            return FinishedCall(self._reports[0], theme)
        heading = [(part.text, theme.style(part.role)) for part in _heading(self._reports, theme)]

        def layout(width: int) -> Iterator[StyledLine]:
            yield heading
            yield from _child_lines(children, theme, width)

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


class _Child(Frozen):
    """A line below "Explored", and why it failed if it did."""

    text: str
    status: CallStatus = CallStatus.OK
    reason: str = ""
    is_label: bool = False


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


def _fold(children: Sequence[_Child], theme: Theme) -> list[_Child]:
    """Return both ends and the failures, with labels for the rest."""
    folded: list[_Child] = []
    hidden = 0
    edge = _MAX_CHILDREN // 2
    for at, child in enumerate(children):
        if edge <= at < len(children) - edge and child.status is CallStatus.OK:
            hidden += 1
            continue
        if hidden:
            folded.append(_Child(_hidden_label(hidden, theme), is_label=True))
            hidden = 0
        folded.append(child)
    return folded


def _hidden_label(hidden: int, theme: Theme) -> str:
    return f"{theme.glyphs.more} " + _("{count} more (Ctrl-O to show)", count=hidden)


def _child_lines(children: Sequence[_Child], theme: Theme, width: int) -> Iterator[StyledLine]:
    first, others = detail_indents(theme, width)
    room, indent = max(width - len(others), 1), [(others, NO_STYLE)]
    start: StyledLine = [(first, theme.style(StyleRole.QUIET))]
    for child in children:
        if child.status is not CallStatus.OK:
            sign, role = status_sign(child.status, theme.glyphs)
            start = [(f"{others[:-2]}{sign} ", theme.style(role))]
        runs: list[StyledRun] = [(child.text, theme.style(StyleRole.QUIET) if child.is_label else NO_STYLE)]
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

"""Sub-agents in the terminal: a block while one runs, a line when it has ended."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding

from tejat.core.agent.subagent_events import AgentEnded
from tejat.core.i18n import _, ngettext
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error, agent_status
from tejat.ui.shared.calls.report import CallReport
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow, hanging_paragraph, segments_fit
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.call_block import FinishedCall, status_sign
from tejat.ui.terminal.views.details import detail_indents

_MAX_CALLS = 3
"""Calls shown of a running agent."""


def agent_rows(agents: Sequence[AgentProgress], theme: Theme, *, now: float, max_rows: int) -> Iterator[RenderableType]:
    """Yield a block for each running agent: name, figures, task and last calls. With little room, fewer calls."""
    shown = agents[:max_rows] if len(agents) <= max_rows else agents[: max_rows - 1]
    room = max_rows // max(len(shown), 1)
    for at, agent in enumerate(shown):
        yield from _block_rows(agent, theme, now=now, max_rows=room, shows_hint=at == 0)
    if len(shown) < len(agents):
        more = ngettext("and {count} more agent", "and {count} more agents", len(agents) - len(shown))
        yield SingleRow(theme, RowSegment(f"{theme.glyphs.more} {more}", StyleRole.QUIET))


def _block_rows(
    agent: AgentProgress, theme: Theme, *, now: float, max_rows: int, shows_hint: bool
) -> Iterator[RenderableType]:
    facts = [*agent.figures, format_elapsed(now - agent.since), *([_("Esc to stop")] if shows_hint else [])]
    yield SingleRow(
        theme,
        RowSegment(f"{theme.glyphs.running} ", StyleRole.ACCENT),
        RowSegment(agent.agent_id, StyleRole.STRONG),
        RowSegment(f" {agent.task}" if agent.task else "", is_shrinkable=True),
        RowSegment(f" ({', '.join(facts)})", StyleRole.QUIET),
    )
    start = f"  {theme.glyphs.corner} "
    for call in agent.latest_calls(max(min(_MAX_CALLS, max_rows - 1), 0)):
        sign, role = (theme.glyphs.running, StyleRole.ACCENT)
        if call.status is not None:
            sign, role = status_sign(call.status, theme.glyphs)
        yield SingleRow(
            theme,
            RowSegment(start, StyleRole.QUIET),
            RowSegment(f"{sign} ", role),
            RowSegment(call.text, StyleRole.QUIET, is_shrinkable=True),
        )
        start = "    "


class EndedAgent:
    """The line of an ended agent, and all of its calls on demand."""

    def __init__(self, ended: AgentEnded, reports: Sequence[CallReport]) -> None:
        self._ended = ended
        self._reports = tuple(reports)

    @property
    def fits_collapsed(self) -> bool:
        return not self._reports

    def render_collapsed(self, theme: Theme) -> RenderableType:
        return _EndLine(self._ended, theme, shows_hint=bool(self._reports))

    def render_whole(self, theme: Theme) -> RenderableType:
        calls = [Padding(FinishedCall(report, theme), (0, 0, 0, 2)) for report in self._reports]
        return Group(_EndLine(self._ended, theme, shows_hint=False), *calls)

    def render_expanded(self, theme: Theme) -> RenderableType:
        return self.render_whole(theme)


class _EndLine:
    def __init__(self, ended: AgentEnded, theme: Theme, *, shows_hint: bool) -> None:
        self._ended = ended
        self._theme = theme
        self._shows_hint = shows_hint

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        theme = self._theme
        sign, role = status_sign(agent_status(self._ended), theme.glyphs)
        name, *figures = agent_end_labels(self._ended)
        separator = f" {theme.glyphs.separator} "
        segments = [
            RowSegment(name, StyleRole.STRONG),
            RowSegment(separator + separator.join(figures), StyleRole.QUIET),
        ]
        hint = RowSegment(" " + _("(Ctrl-O to show)"), StyleRole.QUIET)
        if self._shows_hint and segments_fit([*segments, hint], width=options.max_width - 2):
            segments.append(hint)
        yield hanging_paragraph(RowSegment(sign, role), *segments, theme=theme)
        if error := agent_error(self._ended):
            corner = detail_indents(theme, options.max_width)[0]
            yield hanging_paragraph(RowSegment(corner[:-1], StyleRole.QUIET), RowSegment(error), theme=theme)

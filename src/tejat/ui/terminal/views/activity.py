"""Current activity: running calls, a streaming answer, a pending retry."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from tejat.core.agent.events import AgentEvent, Retrying, ThoughtStreamed
from tejat.core.agent.subagent_events import AgentStarted
from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.ui.shared.calls.agent_progress import AgentProgress
from tejat.ui.shared.calls.report import CallReport
from tejat.ui.shared.calls.title import EXPLORING_TOOLS, TitleForm, call_title
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.shared.labels.text_summary import thought_subject
from tejat.ui.shared.notices import retry_message
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow, hanging_paragraph
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.agent_block import agent_rows
from tejat.ui.terminal.views.call_block import RunningCall, output_rows, running_rows
from tejat.ui.terminal.views.exploration import exploration_rows

_MAX_OUTPUT_ROWS = 5
_MAX_THOUGHT_CHARS = 4000
_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class ActivityView:
    """Rows below the finished blocks. Events come together with their time."""

    def __init__(self, *, folder: str = "") -> None:
        self._folder = folder
        self._calls: dict[int, RunningCall] = {}
        self._agents: dict[str, AgentProgress] = {}
        self._call_ids: dict[int, str | None] = {}
        self._thought = ""
        self._retry: tuple[Retrying, float] | None = None
        self._since: float | None = None
        self._shell: str | None = None
        self._is_answering = False

    @property
    def is_busy(self) -> bool:
        return self._since is not None or bool(self._calls)

    def begin(self, now: float, *, is_command: bool = False) -> None:
        self.end()
        self._since = now
        self._shell = "" if is_command else None

    def end(self) -> None:
        self._calls.clear()
        self._agents.clear()
        self._call_ids.clear()
        self._since = self._shell = None
        self.clear_waiting()

    def clear_waiting(self, *, is_answering: bool = False) -> None:
        """Drop thoughts and retries, because the model answered or is done."""
        self._thought, self._retry, self._is_answering = "", None, is_answering

    def add_thought(self, event: ThoughtStreamed) -> None:
        self._retry = None
        self._thought = (self._thought + event.text)[-_MAX_THOUGHT_CHARS:]

    @property
    def subject(self) -> str:
        """The subject of the present thought."""
        return thought_subject(self._thought)

    def set_retry(self, event: Retrying, now: float) -> None:
        self.clear_waiting()
        self._retry = event, now + event.wait

    def update_call(self, event: StateChanged, now: float) -> None:
        """Update the state of a call; finished ones are removed by `finish_call`."""
        if event.state in _FINAL_STATES:
            return
        self.clear_waiting()
        known = self._calls.get(event.index)
        output = known.output if known is not None and event.state is not CallState.VALIDATING else ""
        is_running = event.state is CallState.EXECUTING
        form = TitleForm.RUNNING if is_running else TitleForm.PLANNED
        title = call_title(event.call, form, folder=self._folder)
        is_exploration = is_running and event.call.name in EXPLORING_TOOLS
        self._call_ids[event.index] = event.call.id
        self._calls[event.index] = RunningCall(title, event.state, now, output, is_exploration)

    def update_output(self, event: OutputUpdated) -> None:
        known = self._calls.get(event.index)
        if known is not None:
            self._calls[event.index] = replace(known, output=event.output)

    def finish_call(self, index: int) -> None:
        self._calls.pop(index, None)

    def start_agent(self, event: AgentStarted, now: float) -> None:
        """Show a sub-agent in place of the call that started it."""
        self.clear_waiting()
        self._agents[event.agent_id] = AgentProgress(event, since=now, folder=self._folder)

    def update_agent(self, agent_id: str, event: AgentEvent) -> None:
        """Count an event from inside a sub-agent."""
        if agent_id in self._agents:
            self._agents[agent_id].record(event)

    def end_agent(self, agent_id: str) -> AgentProgress | None:
        """Remove a sub-agent and return what it did."""
        return self._agents.pop(agent_id, None)

    def update_shell_output(self, output: str) -> None:
        """Update the output of a shell command of the user."""
        self._shell = output

    def rows(
        self, theme: Theme, *, now: float, height: int, explored: Sequence[CallReport] = ()
    ) -> Iterator[RenderableType]:
        """Yield the rows, at most about a third of the screen. `explored` are finished calls not yet printed."""
        room = max(height // 3, 2)
        exploring = [call for _index, call in sorted(self._calls.items()) if call.is_exploration]
        if explored or exploring:
            yield from exploration_rows(explored, exploring, theme, now=now, max_rows=room)
            room = max(room // 2, 2)
        if self._agents:
            yield from agent_rows(list(self._agents.values()), theme, now=now, max_rows=room)
        yield from self._call_rows(theme, now=now, room=room)
        if self._calls or self._agents:
            return
        if self._retry is not None:
            yield from _retry_rows(*self._retry, theme, now=now)
        elif self._since is not None:
            if self._shell is not None:
                yield from output_rows(self._shell, theme, limit=min(2 * _MAX_OUTPUT_ROWS, room))
            if explored:
                yield SingleRow(theme)
            yield self._activity_row(theme, now - self._since)

    def _call_rows(self, theme: Theme, *, now: float, room: int) -> Iterator[RenderableType]:
        started = {agent.call_id for agent in self._agents.values()}
        calls = [
            call
            for index, call in sorted(self._calls.items())
            if not call.is_exploration and self._call_ids.get(index) not in started
        ]
        if any(call.state is CallState.AWAITING_APPROVAL for call in calls):  # the question says the rest
            calls = [call for call in calls if call.state is CallState.EXECUTING]
        shown = calls[: room - 1] if len(calls) > room else calls
        max_output_rows = min(_MAX_OUTPUT_ROWS, (room - len(shown)) // max(len(shown), 1))
        for at, call in enumerate(shown):
            yield from running_rows(call, theme, now=now, max_output_rows=max(max_output_rows, 0), shows_hint=at == 0)
        if len(shown) < len(calls):
            more = ngettext("and {count} more call", "and {count} more calls", len(calls) - len(shown))
            yield SingleRow(theme, RowSegment(f"{theme.glyphs.more} {more}", StyleRole.QUIET))

    def _activity_row(self, theme: Theme, seconds: float) -> RenderableType:
        subject = self.subject
        if subject:
            text = _("Thinking: {subject}", subject=subject)
        elif self._thought:
            text = _("Thinking")
        elif self._shell is not None:
            text = _("Running")
        else:
            text = _("Answering") if self._is_answering else _("Working")
        return SingleRow(
            theme,
            RowSegment(f"{theme.glyphs.running} ", StyleRole.ACCENT),
            RowSegment(text, StyleRole.STRONG, is_shrinkable=True),
            RowSegment(f" ({format_elapsed(seconds)}, " + _("Esc to stop") + ")", StyleRole.QUIET),
        )


def _retry_rows(retry: Retrying, until: float, theme: Theme, *, now: float) -> Iterator[RenderableType]:
    sign = RowSegment(theme.glyphs.warning, StyleRole.WARNING)
    message = RowSegment(retry_message(retry, wait=until - now) + ". ")
    yield hanging_paragraph(sign, message, RowSegment(_("Esc to stop"), StyleRole.QUIET), theme=theme)

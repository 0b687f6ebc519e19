"""Current activity: running calls, a streaming answer, a pending retry."""

import re
from collections.abc import Iterator

from rich.console import RenderableType

from tejat.core.agent.events import Retrying, ThoughtStreamed
from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.ui.shared.call_report import call_title
from tejat.ui.shared.call_summary import summarize_line
from tejat.ui.shared.durations import format_elapsed
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow, hanging_paragraph
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.call_rows import RunningCall, output_rows, running_rows

_MAX_OUTPUT_ROWS = 5
_MAX_THOUGHT_CHARS = 4000
_SUBJECT = re.compile(r"\*\*(.+?)\*\*")
_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class ActivityView:
    """Rows below the finished blocks. Events come together with their time."""

    def __init__(self, *, folder: str = "") -> None:
        self._folder = folder
        self._calls: dict[int, RunningCall] = {}
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
        return _subject(self._thought)

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
        self._calls[event.index] = RunningCall(call_title(event.call, folder=self._folder), event.state, now, output)

    def update_output(self, event: OutputUpdated) -> None:
        known = self._calls.get(event.index)
        if known is not None:
            self._calls[event.index] = replace(known, output=event.output)

    def finish_call(self, index: int) -> None:
        self._calls.pop(index, None)

    def update_shell_output(self, output: str) -> None:
        """Update the output of a shell command of the user."""
        self._shell = output

    def rows(self, theme: Theme, *, now: float, height: int) -> Iterator[RenderableType]:
        """Yield the rows, at most about a third of the screen."""
        room = max(height // 3, 2)
        if self._calls:
            yield from self._call_rows(theme, now=now, room=room)
        elif self._retry is not None:
            yield from _retry_rows(*self._retry, theme, now=now)
        elif self._since is not None:
            if self._shell is not None:
                yield from output_rows(self._shell, theme, limit=min(2 * _MAX_OUTPUT_ROWS, room))
            yield self._activity_row(theme, now - self._since)

    def _call_rows(self, theme: Theme, *, now: float, room: int) -> Iterator[RenderableType]:
        calls = [self._calls[index] for index in sorted(self._calls)]
        shown = calls[: room - 1] if len(calls) > room else calls
        max_output_rows = min(_MAX_OUTPUT_ROWS, (room - len(shown)) // max(len(shown), 1))
        for call in shown:
            yield from running_rows(call, theme, now=now, max_output_rows=max(max_output_rows, 0))
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
            RowSegment(text, StyleRole.QUIET, is_shrinkable=True),
            RowSegment(f" {theme.glyphs.separator} {format_elapsed(seconds)}", StyleRole.QUIET),
            RowSegment(f" {theme.glyphs.separator} " + _("Esc stops it"), StyleRole.QUIET),
        )


def _retry_rows(retry: Retrying, until: float, theme: Theme, *, now: float) -> Iterator[RenderableType]:
    attempt, most, reason = retry.attempt, retry.max_attempts, summarize_line(retry.reason)
    failed = _("Attempt {attempt} of {most} failed: {reason}", attempt=attempt, most=most, reason=reason)
    left = max(round(until - now), 0)
    then = _("Next try in {seconds} s", seconds=left) if left else _("Trying again")
    sign = RowSegment(theme.glyphs.warning, StyleRole.WARNING)
    yield hanging_paragraph(sign, RowSegment(failed, StyleRole.WARNING), theme=theme)
    yield SingleRow(theme, RowSegment(f"  {then}", StyleRole.QUIET))


def _subject(thought: str) -> str:
    """Return the heading of the latest thought, else its first line."""
    headings = _SUBJECT.findall(thought)
    return summarize_line(headings[-1] if headings else thought.strip().partition("\n")[0], limit=100)

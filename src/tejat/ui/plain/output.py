"""Plain-text output of a session: no redrawing, no symbols."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    Noticed,
    RequestFailed,
    Retrying,
    RunEnded,
    TextStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext, translate
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.todos import Todo, TodoList
from tejat.ui.headless.output import OutputStreams, describe_event
from tejat.ui.headless.text_output import TextOutput
from tejat.ui.plain.diff import format_diff_rows
from tejat.ui.plain.style import Style
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error
from tejat.ui.shared.calls.collapsed_results import CollapsedResults
from tejat.ui.shared.calls.excerpt import excerpt_output
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport, build_call_report
from tejat.ui.shared.calls.title import TitleForm, call_title
from tejat.ui.shared.diff.rows import build_diff_rows, strip_blank_context
from tejat.ui.shared.labels.durations import format_duration, format_elapsed
from tejat.ui.shared.labels.run_summary import format_cost, format_tokens
from tejat.ui.shared.labels.text_summary import summarize_line
from tejat.ui.shared.labels.todos import current_text, progress_label
from tejat.ui.shared.notices import run_end_message, screen_notice, severity_label, side_request_notice

MAX_EXPANDED_LINES = 2000
"""Most lines of an expanded result."""

_EDGE_LINES = 20
_CONTEXT_LINES = 1
_MAX_LINE_LENGTH = 2000
_MAX_LAST_LINE_LENGTH = 200


class ProgressIntervals(Frozen):
    """Seconds until a running call is announced, and between progress lines."""

    first: float = 2.0
    every: float = 10.0


DEFAULT_INTERVALS = ProgressIntervals()


class PlainOutput:
    """Writes the model's text to `result`, whole lines about everything else to `line`.

    `ring_bell` is called when an answer is ready. Paths below `folder` are shown relative to it.
    """

    def __init__(
        self,
        result: Callable[[str], None],
        line: Callable[[str], None],
        style: Style,
        *,
        ring_bell: Callable[[], None] = lambda: None,
        folder: str = "",
        intervals: ProgressIntervals = DEFAULT_INTERVALS,
    ) -> None:
        self._text = TextOutput(OutputStreams(result, line, is_terminal=True))
        self._write_line = line
        self._style = style
        self.ring_bell = ring_bell
        self._folder = folder
        self._totals = _SessionTotals()
        self._folded = CollapsedResults[str]()
        self._progress = _ProgressReporter(self._report_progress, intervals)
        self._agents: dict[str, AgentProgress] = {}
        self._agent_calls: set[str | None] = set()
        self._is_mid_answer = False
        self._current_todo: Todo | None = None
        self._held_lines: list[str] | None = None

    def begin(self) -> None:
        """Start reporting progress."""
        self._progress.begin()

    def end(self) -> None:
        """Stop reporting progress and ring the bell."""
        self._text.end_line()
        self._progress.end()
        self.ring_bell()

    @contextmanager
    def hold(self) -> Generator[None]:
        """Hold back output while the user reads a question and types."""
        self._held_lines = []
        try:
            yield
        finally:
            held, self._held_lines = self._held_lines, None
            for text in held:
                self.print_line(text)

    def print_line(self, text: str) -> None:
        """Print one or more sanitized lines."""
        if self._held_lines is not None:
            self._held_lines.append(text)
            return
        self._text.end_line()
        self._write_line(text)
        self._progress.restart()

    def update_output(self, output: str) -> None:
        """Update the output of a shell command of the user."""
        self._progress.note_output(None, output)

    def print_block(self, text: str, *, is_failure: bool = False) -> None:
        """Print the first and last lines of a text, or the end and the error lines of a failure.

        The whole can be expanded.
        """
        shown, is_whole = _excerpt(text, is_failure=is_failure)
        if shown:
            self.print_line(shown)
        if not is_whole:
            self._folded.add(text)

    def expand_last(self) -> None:
        """Print the last collapsed text in full; when repeated, the one before it."""
        found = self._folded.next_older()
        if found is None:
            return self.print_line(_("Nothing to expand."))
        lines = found.split("\n")
        self.print_line("\n".join(lines[:MAX_EXPANDED_LINES]))
        if len(lines) > MAX_EXPANDED_LINES:
            more = len(lines) - MAX_EXPANDED_LINES
            self.print_line(ngettext("[{count} more line is not shown]", "[{count} more lines are not shown]", more))
        return None

    def handle_event(self, event: AgentEvent) -> None:
        self._totals.count(event)
        match event:
            case TextStreamed():
                self._is_mid_answer = True
                self._text.handle_event(event)
                self._progress.restart()
            case Answered(purpose=purpose) if purpose == CONVERSATION:
                self._is_mid_answer = False
                self._text.handle_event(event)
            case Retrying():
                self._print_retry(event)
            case StateChanged(index, call, CallState.EXECUTING):
                self._progress.call(index, str(call_title(call, TitleForm.RUNNING, folder=self._folder)))
            case OutputUpdated(index, output=output):
                self._progress.note_output(index, output)
            case CallFinished():
                self._progress.finish(event.index)
                if event.call.id not in self._agent_calls:
                    self._show_finished(event)
            case AgentStarted() | AgentActivity() | AgentEnded():
                self._handle_agent(event)
            case RequestFailed():
                self._print_notice(side_request_notice(event))
            case RunEnded():
                self._print_end(event)
            case _:
                self._print_notice(screen_notice(event))

    def _handle_agent(self, event: AgentStarted | AgentActivity | AgentEnded) -> None:
        """Print when a sub-agent starts, each of its calls, and its end in one line."""
        match event:
            case AgentStarted():
                agent = self._agents[event.agent_id] = AgentProgress(event, since=0.0, folder=self._folder)
                self._agent_calls.add(event.call_id)
                self.print_line(_("Agent {agent} started: {task}", agent=agent.agent_id, task=agent.task))
            case AgentActivity(agent_id, _name, inner):
                agent = self._agents.get(agent_id)
                before = 0 if agent is None else len(agent.reports)
                if agent is not None:
                    agent.record(inner)
                for report in () if agent is None else agent.reports[before:]:
                    self.print_line(f"{agent_id}: {report.headline}")
                self._print_notice(screen_notice(inner), source=agent_id)
            case AgentEnded():
                self._agents.pop(event.agent_id, None)
                labels = agent_end_labels(event)
                self.print_line(self._style.bold(_("Agent ended: {figures}", figures=", ".join(labels))))
                if error := agent_error(event):
                    self.print_line(error)

    def session_summary(self) -> str:
        """Return the totals of the session in a line, empty if nothing was asked."""
        return self._totals.summary

    def _report_progress(self, text: str) -> None:
        if self._held_lines is None:
            self.print_line(text)

    def show_todos(self, todos: TodoList) -> None:
        """Print what is in progress if that has changed."""
        line = f"{current_text(todos)} ({progress_label(todos)})" if todos.todos else ""
        current = None if todos.is_done else todos.current
        if line and (current != self._current_todo or todos.is_done):
            self.print_line(line if current is None else _("Todo: {line}", line=line))
        self._current_todo = current

    def _show_finished(self, event: CallFinished) -> None:
        display = event.result.return_display
        if isinstance(display, TodoList):
            self.show_todos(display)
        else:
            self._show_call(build_call_report(event, folder=self._folder))

    def _show_call(self, report: CallReport) -> None:
        self.print_line(self._style.bold(report.headline))
        if report.command:
            self.print_block(report.command)
        feedback = _("You: {words}", words=report.feedback) if report.feedback else ""
        for words in (report.reason, feedback, report.note):
            if words:
                self.print_line(words)
        if report.status is CallStatus.REJECTED or report.is_exploration:
            return
        if report.diff:
            rows = strip_blank_context(build_diff_rows(report.diff, context=_CONTEXT_LINES, with_files=False))
            self.print_line("\n".join(format_diff_rows(rows, self._style, file_name=report.title.object)))
        elif report.body:
            self.print_block(report.body, is_failure=report.status is not CallStatus.OK)

    def _print_retry(self, event: Retrying) -> None:
        self.print_line(sanitize_text(translate(describe_event(event) or "")))
        if event.purpose == CONVERSATION and self._is_mid_answer:
            self._is_mid_answer = False
            self.print_line(_("This attempt failed. Ignore the text above."))

    def _print_end(self, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        words = [run_end_message(ended), _("The answer is incomplete.") if was_cut else ""]
        self._is_mid_answer = False
        message = " ".join(filter(None, words))
        self._text.end_line()
        if message:
            self.print_line(sanitize_text(translate(message)))

    def _print_notice(self, noticed: Noticed | None, *, source: str = "") -> None:
        if noticed is not None:
            text = f"{severity_label(noticed.severity)}: {translate(noticed.message).strip()}"
            self.print_line(sanitize_text(f"{source}: {text}" if source else text))


class _ProgressReporter:
    """Reports what still runs after a while without other output."""

    def __init__(self, line: Callable[[str], None], pace: ProgressIntervals) -> None:
        self._line = line
        self._intervals = pace
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None
        self._calls: dict[int, tuple[str, float]] = {}
        self._announced: set[int] = set()
        self._output: dict[int | None, str] = {}

    def begin(self) -> None:
        self.end()
        self._since = time.monotonic()
        self.restart()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._since = None
        self._calls.clear()
        self._announced.clear()
        self._output.clear()

    def call(self, index: int, title: str) -> None:
        self._calls[index] = title, time.monotonic()
        self._announced.discard(index)
        self._schedule(self._intervals.first)

    def note_output(self, index: int | None, output: str) -> None:
        self._output[index] = output[-10 * _MAX_LAST_LINE_LENGTH :].rstrip().rpartition("\n")[2]

    def finish(self, index: int) -> None:
        self._calls.pop(index, None)
        self._output.pop(index, None)

    def restart(self) -> None:
        """Restart the interval after other output."""
        is_new = any(index not in self._announced for index in self._calls)
        self._schedule(self._intervals.first if is_new else self._intervals.every)

    def _schedule(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._since is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._report)

    def _report(self) -> None:
        self._timer = None
        now = time.monotonic()
        for index, (title, since) in sorted(self._calls.items()):
            if index in self._announced:
                elapsed = format_elapsed(now - since)
                self._line(_("{call}: {elapsed} so far", call=title, elapsed=elapsed) + self._last_line(index))
            else:
                self._announced.add(index)
                self._line(title)
        if not self._calls and self._since is not None:
            elapsed = format_elapsed(now - self._since)
            self._line(_("Still working: {elapsed} so far", elapsed=elapsed) + self._last_line(None))
        self.restart()

    def _last_line(self, index: int | None) -> str:
        last = summarize_line(self._output.get(index, ""), limit=_MAX_LAST_LINE_LENGTH)
        return ". " + _("Last line: {line}", line=last) if last else ""


class _SessionTotals:
    """Totals of a session."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._runs = self._calls = 0
        self._ended: RunEnded | None = None

    def count(self, event: AgentEvent) -> None:
        if isinstance(event, CallFinished):
            self._calls += 1
        elif isinstance(event, RunEnded):
            self._runs += 1
            self._ended = event

    @property
    def summary(self) -> str:
        if self._ended is None:
            return ""
        prompts = ngettext("{count} prompt", "{count} prompts", self._runs)
        parts = [prompts, ngettext("{count} tool call", "{count} tool calls", self._calls)]
        if self._ended.usage.total:
            parts.append(format_tokens(self._ended.usage.total, self._ended.usage.cached))
        if self._ended.cost:
            parts.append(format_cost(self._ended.cost))
        parts.append(format_duration(time.monotonic() - self._began))
        return _("This session: {figures}.", figures=", ".join(parts))


def _excerpt(text: str, *, is_failure: bool) -> tuple[str, bool]:
    """Return the lines worth showing, and whether that is all of the text."""
    rows = excerpt_output(text.strip("\n").split("\n"), is_failure=is_failure, head=_EDGE_LINES, tail=_EDGE_LINES)
    is_whole = all(not row.hidden and len(row.text) <= _MAX_LINE_LENGTH for row in rows)
    return "\n".join(_gap_label(row.hidden) if row.hidden else _clip_line(row.text) for row in rows), is_whole


def _gap_label(hidden: int) -> str:
    return ngettext("[{count} more line; enter + to show all]", "[{count} more lines; enter + to show all]", hidden)


def _clip_line(line: str) -> str:
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]} [...]"

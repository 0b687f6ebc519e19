"""Transcript of a session: finished blocks are printed once, the rest is drawn live."""

import time
from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    LoopDetected,
    Noticed,
    RequestFailed,
    Retrying,
    RunEnded,
    Severity,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.i18n import _, translate
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.ui.report import Report
from tejat.ui.shared.calls.collapsed_results import CollapsedResults
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport, build_call_report
from tejat.ui.shared.calls.title import EXPLORING_TOOLS
from tejat.ui.shared.labels.run_summary import SUMMARY_MIN_SECONDS, RunMeter
from tejat.ui.shared.notices import screen_notice, side_request_notice
from tejat.ui.shared.text.sanitizer import escape_typed
from tejat.ui.terminal.render.markdown.stream import MarkdownStream
from tejat.ui.terminal.render.row_segments import RowSegment, hanging_paragraph
from tejat.ui.terminal.render.theme import StyleRole
from tejat.ui.terminal.views.activity import ActivityView
from tejat.ui.terminal.views.agent_block import EndedAgent
from tejat.ui.terminal.views.block_printer import BlockKind, BlockPrinter, TranscriptScreen
from tejat.ui.terminal.views.call_block import FinishedCall, call_details
from tejat.ui.terminal.views.details import Collapsible, CollapsibleOutput
from tejat.ui.terminal.views.exploration import Exploration
from tejat.ui.terminal.views.notice_block import render_notice, render_quiet, render_run_end, render_thoughts
from tejat.ui.terminal.views.report import render_report

_SHELL_EDGE_LINES = 20
"""Lines shown at each end of the output of a shell command that the user ran to see it."""
_MAX_PROMPT_LINES = 8
"""Lines shown of a long prompt."""
_MIN_ROOMY_ROWS = 16
"""Least height of a screen on which live blocks are set apart by blank lines, as they are once printed."""
_STARTED_STATES = frozenset({CallState.AWAITING_APPROVAL, CallState.EXECUTING})


class Transcript:
    """Prints events; live rows are rendered on every redraw. Paths below `folder` are shown relative to it.

    Calls that only look at files are held back in the live area and printed together, before anything else is printed
    and at the end of the run at the latest.

    If it `shows_thoughts`, thoughts are printed above the answer; if it `shows_model`, each answer names its model. If
    it `is_compact`, long results are folded and neighbouring explorations share a line.
    """

    def __init__(
        self, screen: TranscriptScreen, *, folder: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._screen = screen
        self._printer = BlockPrinter(screen)
        self._folder = folder
        self._clock = clock
        self._activity = ActivityView(folder=folder)
        self._stream = MarkdownStream(screen.theme)
        self._run_meter = RunMeter()
        self._collapsed = CollapsedResults[Collapsible]()
        self._live = _LazyRows(self._rows)
        self._explored: list[tuple[int, int, CallReport]] = []
        self._agent_calls: set[str | None] = set()
        self._answers = 0
        self._shell_line = ""
        self._has_printed_answer = False
        self._is_mid_answer = False
        self._thoughts: list[str] = []
        self.shows_thoughts = False
        self.shows_model = False
        self.is_compact = True

    def begin_run(self, shown: str) -> None:
        """Start a run, showing its prompt unless `shown` is empty."""
        self.show_prompt(shown)
        self._activity.begin(self._clock())
        self._run_meter.begin(self._clock())
        self._draw()

    def show_prompt(self, line: str) -> None:
        """Show input of the user."""
        if line:
            self._print_prompt(self._screen.theme.glyphs.prompt, StyleRole.PROMPT, line)

    def begin_shell(self, line: str) -> None:
        """Start a shell command of the user."""
        self._shell_line = line
        self._print_prompt(self._screen.theme.glyphs.shell, StyleRole.SHELL, line)
        self._activity.begin(self._clock(), is_command=True)
        self._draw()

    def show_shell_output(self, output: str) -> None:
        self._activity.update_shell_output(output)
        self._draw()

    def end_shell(self, result: str) -> None:
        """Print the result of the shell command."""
        self._activity.end()
        text = sanitize_text(translate(result)).strip("\n")
        output = CollapsibleOutput(f"! {self._shell_line}", text, head=_SHELL_EDGE_LINES, tail=_SHELL_EDGE_LINES)
        if not output.is_empty:
            self._print(BlockKind.OUTPUT, self._render_details(output))
        self._draw()

    def end(self) -> None:
        """Finish whatever is open."""
        self._finish_text()
        self._print_exploration()
        self._activity.end()
        self._draw()

    def show_report(self, report: Report) -> None:
        self._print(BlockKind.REPORT, render_report(report, self._screen.theme))

    def expand_last(self) -> None:
        """Print the last collapsed text in full; when repeated, the one before it."""
        found = self._collapsed.next_older()
        if found is None:
            self._screen.show_hint(_("Nothing to expand."))
        else:
            self._print(BlockKind.REPORT, found.render_expanded(self._screen.theme))

    def handle_event(self, event: AgentEvent) -> None:
        self._run_meter.count(event)
        match event:
            case TextStreamed(text):
                self._handle_text(text)
            case ThoughtStreamed():
                self._activity.add_thought(event)
                self._thoughts += [event.text] if self.shows_thoughts else []
            case Answered():
                self._finish_answer(event)
            case Retrying():
                self._discard_attempt(event)
            case StateChanged() | OutputUpdated():
                self._handle_running_call(event)
            case CallFinished():
                self._handle_call(event)
            case AgentStarted() | AgentActivity() | AgentEnded():
                self._handle_agent(event)
            case Steered(text):
                self.show_prompt(text)
            case RequestFailed():
                self._activity.clear_waiting()
                self._print_notice(side_request_notice(event))
            case LoopDetected():
                self._finish_text()
                self._print_notice(screen_notice(event))
            case RunEnded():
                self._finish_run(event)
            case _:
                self._print_notice(screen_notice(event))
        self._draw()

    @property
    def thought_subject(self) -> str:
        """What the model is thinking about."""
        return self._activity.subject

    def _print_prompt(self, mark: str, role: StyleRole, words: str) -> None:
        theme = self._screen.theme
        self._stream = MarkdownStream(theme)
        text = escape_typed(words.strip("\n"))
        prompt = CollapsibleOutput(_("Your prompt"), text)
        segments = [RowSegment(text, is_typed=True)]
        if not prompt.fits_collapsed:
            shown, left_out = prompt.head(_MAX_PROMPT_LINES)
            segments = [
                RowSegment(shown, is_typed=True),
                RowSegment(f"\n{theme.glyphs.more} {left_out}", StyleRole.QUIET),
            ]
            self._collapsed.add(prompt)
        self._print(BlockKind.PROMPT, hanging_paragraph(RowSegment(mark, role), *segments, theme=theme))

    def _handle_text(self, text: str) -> None:
        self._activity.clear_waiting(is_answering=True)
        self._print_thoughts()
        if text.strip():
            self._print_exploration()
        self._is_mid_answer = True
        self._print_text(self._stream.feed(text))

    def _finish_answer(self, event: Answered) -> None:
        self._activity.clear_waiting()
        if event.purpose == CONVERSATION:
            self._answers += 1
            self._print_thoughts()
            self._finish_text()
            if self.shows_model and event.answer.model:
                self._print(BlockKind.NOTE, render_quiet(event.answer.model, self._screen.theme))

    def _discard_attempt(self, event: Retrying) -> None:
        """Drop the output of a failed attempt, or mark it if it was printed already."""
        self._activity.set_retry(event, self._clock())
        if event.purpose != CONVERSATION:
            return
        self._stream.reset()
        self._thoughts.clear()
        self._is_mid_answer = False
        if self._has_printed_answer:
            self._has_printed_answer = False
            self._print_notice(Noticed(_("This attempt failed. Ignore the text above."), Severity.WARNING))

    def _handle_running_call(self, event: StateChanged | OutputUpdated) -> None:
        """Update a running call. An exploration ends when the user is asked or another kind of call runs."""
        if isinstance(event, OutputUpdated):
            self._activity.update_output(event)
            return
        is_exploring = event.call.name in EXPLORING_TOOLS and event.state is CallState.EXECUTING
        if event.state in _STARTED_STATES and not is_exploring:
            self._print_exploration()
        self._activity.update_call(event, self._clock())

    def _handle_agent(self, event: AgentStarted | AgentActivity | AgentEnded) -> None:
        """Follow a sub-agent. Notices from inside are shown with its id."""
        match event:
            case AgentStarted():
                self._print_exploration()
                self._activity.start_agent(event, self._clock())
            case AgentActivity(agent_id, _, inner):
                self._run_meter.count(inner)
                self._activity.update_agent(agent_id, inner)
                if (noticed := screen_notice(inner)) is not None:
                    self._print_notice(Noticed(f"{agent_id}: {translate(noticed.message)}", noticed.severity))
            case AgentEnded():
                self._end_agent(event)

    def _end_agent(self, ended: AgentEnded) -> None:
        """Print the line of a sub-agent, which stands for the call that started it."""
        agent = self._activity.end_agent(ended.agent_id)
        if agent is not None:
            self._agent_calls.add(agent.call_id)
        reports = [] if agent is None else agent.reports
        self._print(BlockKind.CALL, self._render_details(EndedAgent(ended, reports)))

    def _handle_call(self, event: CallFinished) -> None:
        self._activity.finish_call(event.index)
        if event.call.id in self._agent_calls:
            self._agent_calls.discard(event.call.id)
            return
        report = build_call_report(event, folder=self._folder)
        has_details = report.status is not CallStatus.OK and report.body
        if report.is_exploration and self.is_compact and not has_details:
            self._explored.append((self._answers, event.index, report))
        else:
            self._print_call(report)

    def _print_call(self, report: CallReport) -> None:
        call, details = FinishedCall(report, self._screen.theme), call_details(report)
        if details is None:
            self._print(BlockKind.CALL, call)
        elif report.status is CallStatus.REJECTED:  # the user has just read it
            self._print(BlockKind.CALL, call)
            self._collapsed.add(details)
        else:
            self._print(BlockKind.CALL, call, self._render_details(details), is_tall=True)

    def _render_details(self, details: Collapsible) -> RenderableType:
        if not self.is_compact:
            return details.render_whole(self._screen.theme)
        if not details.fits_collapsed:
            self._collapsed.add(details)
        return details.render_collapsed(self._screen.theme)

    @property
    def _exploration(self) -> list[CallReport]:
        """Finished calls that are not printed yet, in the order of the model, which is not the one of their ends."""
        return [report for _answer, _index, report in sorted(self._explored, key=lambda each: each[:2])]

    def _print_exploration(self) -> None:
        reports, self._explored = self._exploration, []
        if reports:
            exploration = Exploration(reports)
            rendered = self._render_details(exploration)
            self._printer.print(BlockKind.CALL, rendered, is_tall=exploration.has_heading)

    def _finish_run(self, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        self._finish_text()
        self._print_exploration()
        self._activity.end()
        theme = self._screen.theme
        message = render_run_end(ended, theme, was_cut=was_cut)
        if message is not None:
            self._print(BlockKind.NOTE, message)
        summary = self._run_meter.end(ended, self._clock())
        if summary.seconds >= SUMMARY_MIN_SECONDS:
            shown = f" {theme.glyphs.separator} ".join(summary.labels)
            self._print(BlockKind.NOTE, Text(shown, theme.style(StyleRole.QUIET)))

    def _print_thoughts(self) -> None:
        thoughts = "".join(self._thoughts).strip()
        self._thoughts.clear()
        if thoughts:
            self._print(BlockKind.NOTE, render_thoughts(thoughts, self._screen.theme))

    def _print_notice(self, noticed: Noticed | None) -> None:
        if noticed is not None:
            self._print(BlockKind.NOTE, render_notice(noticed, self._screen.theme))

    def _print_text(self, finished: list[RenderableType]) -> None:
        if finished:
            self._has_printed_answer = True
            self._print(BlockKind.TEXT, *finished)

    def _finish_text(self) -> None:
        self._print_text(self._stream.finish())
        self._stream.reset()
        self._has_printed_answer = self._is_mid_answer = False

    def _print(self, kind: BlockKind, *blocks: RenderableType, is_tall: bool = False) -> None:
        self._print_exploration()
        self._printer.print(kind, *blocks, is_tall=is_tall)

    def _draw(self) -> None:
        """Update the live area. Cheap, because it is called for every chunk."""
        is_live = self._activity.is_busy or bool(self._explored) or self._stream.pending() is not None
        self._screen.set_live(self._live if is_live else None)

    def _rows(self) -> RenderResult:
        opened = self._stream.pending()
        theme, now, height = self._screen.theme, self._clock(), self._screen.height
        rows = list(self._activity.rows(theme, now=now, height=height, explored=self._exploration))
        is_roomy = height >= _MIN_ROOMY_ROWS
        if opened is not None:
            if is_roomy and self._printer.is_apart(BlockKind.TEXT):
                yield Text("")
            yield opened
        if rows and is_roomy and (opened is not None or self._printer.is_apart(BlockKind.NOTE)):
            yield Text("")
        yield from rows


class _LazyRows:
    """Rows that are rendered when they are drawn."""

    def __init__(self, rows: Callable[[], RenderResult]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return self._rows()

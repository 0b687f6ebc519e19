"""Transcript of a session: finished blocks are printed once, the rest is drawn live."""

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

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
from tejat.core.i18n import _, translate
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished, OutputUpdated, StateChanged
from tejat.core.ui.report import Report
from tejat.ui.shared.call_report import build_call_report
from tejat.ui.shared.collapsed_results import CollapsedResults
from tejat.ui.shared.notices import notice_for_event, run_end_message, severity_label, side_request_notice
from tejat.ui.shared.run_summary import RunMeter
from tejat.ui.terminal.render.markdown.stream import MarkdownStream
from tejat.ui.terminal.render.row_segments import RowSegment, hanging_paragraph
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.activity import ActivityView
from tejat.ui.terminal.views.call_rows import FinishedCallRow, call_details
from tejat.ui.terminal.views.collapsible import CollapsibleText
from tejat.ui.terminal.views.report import render_report

_SUMMARY_MIN_SECONDS = 5.0
"""Least duration of a run that gets a summary."""
_MAX_PROMPT_LINES = 8
"""Lines shown of a long prompt."""


class TranscriptScreen(Protocol):
    """The part of the screen that a transcript needs."""

    @property
    def theme(self) -> Theme: ...

    @property
    def height(self) -> int: ...

    def print(self, *renderables: RenderableType) -> None: ...

    def set_live(self, renderable: RenderableType | None, /) -> None: ...

    def show_hint(self, text: str) -> None: ...


class Transcript:
    """Prints events; live rows are rendered on every redraw. Paths below `folder` are shown relative to it.

    If it `shows_thoughts`, thoughts are printed above the answer; if it `shows_model`, each answer names its model.
    """

    def __init__(
        self, screen: TranscriptScreen, *, folder: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._screen = screen
        self._folder = folder
        self._clock = clock
        self._activity = ActivityView(folder=folder)
        self._stream = MarkdownStream(screen.theme)
        self._run_meter = RunMeter()
        self._collapsed = CollapsedResults[CollapsibleText]()
        self._live = _LazyRows(self._rows)
        self._last: _BlockKind | None = None
        self._shell_line = ""
        self._has_printed_answer = False
        self._is_mid_answer = False
        self._thoughts = ""
        self.shows_thoughts = False
        self.shows_model = False

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
        self._print_collapsible(CollapsibleText(f"! {self._shell_line}", text), _BlockKind.OUTPUT)
        self._draw()

    def end(self) -> None:
        """Finish whatever is open."""
        self._finish_text()
        self._activity.end()
        self._draw()

    def show_report(self, report: Report) -> None:
        self._print(_BlockKind.REPORT, render_report(report, self._screen.theme))

    def expand_last(self) -> None:
        """Print the last collapsed text in full; when repeated, the one before it."""
        found = self._collapsed.next_older()
        if found is None:
            self._screen.show_hint(_("There is nothing folded to show."))
        else:
            self._print(_BlockKind.REPORT, found.render_expanded(self._screen.theme))

    def handle_event(self, event: AgentEvent) -> None:
        self._run_meter.count(event)
        match event:
            case TextStreamed(text):
                self._activity.clear_waiting(is_answering=True)
                self._print_thoughts()
                self._is_mid_answer = True
                self._print_text(self._stream.feed(text))
            case ThoughtStreamed():
                self._activity.add_thought(event)
                self._thoughts += event.text if self.shows_thoughts else ""
            case Answered():
                self._finish_answer(event)
            case Retrying():
                self._discard_attempt(event)
            case StateChanged():
                self._activity.update_call(event, self._clock())
            case OutputUpdated():
                self._activity.update_output(event)
            case CallFinished():
                self._print_call(event)
            case Steered(text):
                self.show_prompt(text)
            case RequestFailed():
                self._activity.clear_waiting()
                self._print_notice(side_request_notice(event))
            case LoopDetected():
                self._finish_text()
                self._print_notice(notice_for_event(event))
            case RunEnded():
                self._finish_run(event)
            case _:
                self._print_notice(notice_for_event(event))
        self._draw()

    @property
    def thought_subject(self) -> str:
        """What the model is thinking about."""
        return self._activity.subject

    def _print_prompt(self, mark: str, role: StyleRole, words: str) -> None:
        theme = self._screen.theme
        self._stream = MarkdownStream(theme)
        prompt = CollapsibleText(_("Your prompt"), sanitize_text(words.strip("\n")))
        segments = [RowSegment(prompt.text)]
        if not prompt.fits_collapsed:
            shown, left_out = prompt.head(_MAX_PROMPT_LINES)
            segments = [RowSegment(shown), RowSegment(f"\n{theme.glyphs.more} {left_out}", StyleRole.QUIET)]
            self._collapsed.add(prompt)
        self._print(_BlockKind.PROMPT, hanging_paragraph(RowSegment(mark, role), *segments, theme=theme))

    def _finish_answer(self, event: Answered) -> None:
        self._activity.clear_waiting()
        if event.purpose == CONVERSATION:
            self._print_thoughts()
            self._finish_text()
            if self.shows_model and event.answer.model:
                self._print_quiet(event.answer.model)

    def _discard_attempt(self, event: Retrying) -> None:
        """Drop the output of a failed attempt, or mark it if it was printed already."""
        self._activity.set_retry(event, self._clock())
        if event.purpose != CONVERSATION:
            return
        self._stream.reset()
        self._thoughts = ""
        self._is_mid_answer = False
        if self._has_printed_answer:
            self._has_printed_answer = False
            self._print_notice(Noticed(_("this attempt failed: its words above do not count.")))

    def _print_call(self, event: CallFinished) -> None:
        self._activity.finish_call(event.index)
        report = build_call_report(event, folder=self._folder)
        self._print(_BlockKind.CALL, FinishedCallRow(report, self._screen.theme))
        body = call_details(report)
        if body is not None:
            self._print_collapsible(body, _BlockKind.CALL)

    def _finish_run(self, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        self._finish_text()
        self._activity.end()
        theme = self._screen.theme
        sentences = [run_end_message(ended), _("The answer above is cut short.") if was_cut else ""]
        words = " ".join(filter(None, sentences))
        if words:
            is_stop = ended.reason in (EndReason.FINISHED, EndReason.INTERRUPTED)
            sign = theme.glyphs.cancelled if is_stop else theme.glyphs.failed
            role = StyleRole.WARNING if is_stop else StyleRole.BAD
            self._print(_BlockKind.NOTE, hanging_paragraph(RowSegment(sign, role), RowSegment(words), theme=theme))
        summary = self._run_meter.end(ended, self._clock())
        if summary.seconds >= _SUMMARY_MIN_SECONDS:
            shown = f" {theme.glyphs.separator} ".join(summary.labels)
            self._print(_BlockKind.NOTE, Text(shown, theme.style(StyleRole.QUIET)))

    def _print_thoughts(self) -> None:
        thoughts, self._thoughts = sanitize_text(self._thoughts).strip(), ""
        if thoughts:
            self._print_quiet(thoughts)

    def _print_quiet(self, text: str) -> None:
        theme = self._screen.theme
        mark, words = RowSegment(theme.glyphs.bullet, StyleRole.QUIET), RowSegment(text, StyleRole.QUIET)
        self._print(_BlockKind.NOTE, hanging_paragraph(mark, words, theme=theme))

    def _print_notice(self, noticed: Noticed | None) -> None:
        if noticed is None:
            return
        theme = self._screen.theme
        sign, part = {
            Severity.NOTE: (theme.glyphs.bullet, StyleRole.QUIET),
            Severity.WARNING: (theme.glyphs.warning, StyleRole.WARNING),
            Severity.ERROR: (theme.glyphs.failed, StyleRole.BAD),
        }[noticed.severity]
        word, words = RowSegment(f"{severity_label(noticed.severity)}: ", part), RowSegment(noticed.message.strip())
        self._print(_BlockKind.NOTE, hanging_paragraph(RowSegment(sign, part), word, words, theme=theme))

    def _print_text(self, finished: list[RenderableType]) -> None:
        if finished:
            self._has_printed_answer = True
            self._print(_BlockKind.TEXT, *finished)

    def _finish_text(self) -> None:
        self._print_text(self._stream.finish())
        self._stream.reset()
        self._has_printed_answer = self._is_mid_answer = False

    def _print_collapsible(self, body: CollapsibleText, kind: "_BlockKind") -> None:
        if not body.text:
            return
        self._print(kind, body.render_collapsed(self._screen.theme))
        if not body.fits_collapsed:
            self._collapsed.add(body)

    def _print(self, kind: "_BlockKind", *blocks: RenderableType) -> None:
        """Print blocks, with a blank line between different kinds."""
        is_first, is_its_output = self._last is None, kind is _BlockKind.OUTPUT and self._last is _BlockKind.PROMPT
        is_apart = not is_first and not is_its_output and (kind is not self._last or kind in _SEPARATED_KINDS)
        self._last = kind
        self._screen.print(*([Text("")] if is_apart else []), *blocks)

    def _draw(self) -> None:
        """Update the live area. Cheap, because it is called for every chunk."""
        is_live = self._activity.is_busy or self._stream.pending() is not None
        self._screen.set_live(self._live if is_live else None)

    def _rows(self) -> RenderResult:
        opened = self._stream.pending()
        if opened is not None:
            yield opened
        yield from self._activity.rows(self._screen.theme, now=self._clock(), height=self._screen.height)


class _BlockKind(StrEnum):
    """Kind of a printed block."""

    PROMPT = "prompt"
    OUTPUT = "output"
    TEXT = "text"
    CALL = "call"
    NOTE = "note"
    REPORT = "sheet"


_SEPARATED_KINDS = frozenset({_BlockKind.PROMPT, _BlockKind.REPORT})
"""Kinds that are separated even from their own kind."""


class _LazyRows:
    """Rows that are rendered when they are drawn."""

    def __init__(self, rows: Callable[[], RenderResult]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return self._rows()

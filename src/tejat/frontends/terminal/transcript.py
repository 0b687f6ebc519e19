"""A run on the screen: what is finished is printed once, what still changes is drawn live below it."""

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from tejat.core.agent_events import (
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
from tejat.core.events import CallFinished, OutputUpdated, StateChanged
from tejat.core.model import CONVERSATION
from tejat.core.sheet import Sheet
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.call_report import report_of
from tejat.frontends.folded_results import FoldedResults
from tejat.frontends.notices import ending_of, notice_of, side_failure, word_for_severity
from tejat.frontends.run_figures import RunFigures
from tejat.frontends.terminal.call_lines import FinishedLine, folded
from tejat.frontends.terminal.folding import Folded
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.markdown_stream import MarkdownStream
from tejat.frontends.terminal.progress import Progress
from tejat.frontends.terminal.sheets import draw_sheet
from tejat.frontends.terminal.single_row import Piece, hanging

_WORTH_TELLING = 5.0
"""Seconds from which on a run is told how long it took."""
_MOST_OF_PROMPT = 8
"""Lines of a prompt that is too long to be shown as a whole."""


class Paper(Protocol):
    """What a transcript needs of the frame."""

    @property
    def look(self) -> Look: ...

    @property
    def height(self) -> int: ...

    def print(self, *renderables: RenderableType) -> None: ...

    def live(self, renderable: RenderableType | None, /) -> None: ...

    def hint(self, text: str) -> None: ...


class Transcript:
    """Writes what happens. What is live is drawn anew whenever the frame draws, with the time as it is then.

    Paths below `folder` are shown from there.
    """

    def __init__(self, paper: Paper, *, folder: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._paper = paper
        self._folder = folder
        self._clock = clock
        self._progress = Progress(folder=folder)
        self._stream = MarkdownStream(paper.look)
        self._figures = RunFigures()
        self._folded = FoldedResults[Folded]()
        self._live = _Live(self._rows)
        self._last: _Kind | None = None
        self._shell_line = ""
        self._has_printed_of_answer = False
        self._is_mid_answer = False

    def begin(self, shown: str) -> None:
        """A prompt is sent: show it as the person's own words, unless that was done."""
        self.echo(shown)
        self._progress.begin(self._clock())
        self._figures.begin(self._clock())
        self._draw()

    def echo(self, words: str) -> None:
        """Show what the person entered."""
        if words:
            self._begin(self._paper.look.glyphs.prompt, Part.PROMPT, words)

    def begin_shell(self, line: str) -> None:
        """The person runs a command themselves."""
        self._shell_line = line
        self._begin(self._paper.look.glyphs.shell, Part.SHELL, line)
        self._progress.begin(self._clock(), is_command=True)
        self._draw()

    def show_shell_output(self, output: str) -> None:
        self._progress.show_output(output)
        self._draw()

    def end_shell(self, shown: str) -> None:
        """The command is over; this is what it came to."""
        self._progress.end()
        self._print_folded(Folded(f"! {self._shell_line}", visible(translated(shown)).strip("\n")), _Kind.OUTPUT)
        self._draw()

    def end(self) -> None:
        """Nothing goes on any more, however it came to that."""
        self._finish_text()
        self._progress.end()
        self._draw()

    def show(self, sheet: Sheet) -> None:
        self._print(_Kind.SHEET, draw_sheet(sheet, self._paper.look))

    def expand_last(self) -> None:
        """Print all of what was folded last; asked again, of the one before it."""
        found = self._folded.take()
        if found is None:
            self._paper.hint(say("There is nothing folded to show."))
        else:
            self._print(_Kind.SHEET, found.opened(self._paper.look))

    def tell(self, event: AgentEvent) -> None:
        self._figures.count(event)
        match event:
            case TextStreamed(text):
                self._progress.go_on(is_answering=True)
                self._is_mid_answer = True
                self._print_text(self._stream.feed(text))
            case ThoughtStreamed():
                self._progress.think(event)
            case Answered(purpose=purpose):
                self._progress.go_on()
                if purpose == CONVERSATION:
                    self._finish_text()
            case Retrying():
                self._void(event)
            case StateChanged():
                self._progress.change(event, self._clock())
            case OutputUpdated():
                self._progress.update(event)
            case CallFinished():
                self._print_call(event)
            case Steered(text):
                self.echo(text)
            case RequestFailed():
                self._progress.go_on()
                self._print_notice(side_failure(event))
            case LoopDetected():
                self._finish_text()
                self._print_notice(notice_of(event))
            case RunEnded():
                self._finish_run(event)
            case _:
                self._print_notice(notice_of(event))
        self._draw()

    def _begin(self, mark: str, part: Part, words: str) -> None:
        look = self._paper.look
        self._stream = MarkdownStream(look)
        prompt = Folded(say("Your prompt"), visible(words.strip("\n")))
        if prompt.is_whole:
            self._print(_Kind.PROMPT, hanging(Piece(mark, part), Piece(prompt.text), look=look))
        else:
            shown, left_out = prompt.beginning(_MOST_OF_PROMPT)
            told = Piece(f"\n{look.glyphs.more} {left_out}", Part.QUIET)
            self._print(_Kind.PROMPT, hanging(Piece(mark, part), Piece(shown), told, look=look))
            self._folded.add(prompt)

    def _void(self, event: Retrying) -> None:
        """What came of the attempt does not count. What was printed of it cannot be taken back, only marked."""
        self._progress.retry(event, self._clock())
        if event.purpose != CONVERSATION:
            return
        self._stream.reset()
        self._is_mid_answer = False
        if self._has_printed_of_answer:
            self._has_printed_of_answer = False
            self._print_notice(Noticed(say("this attempt failed: its words above do not count.")))

    def _print_call(self, event: CallFinished) -> None:
        self._progress.finish(event.index)
        report = report_of(event, folder=self._folder)
        self._print(_Kind.CALL, FinishedLine(report, self._paper.look))
        body = folded(report)
        if body is not None:
            self._print_folded(body, _Kind.CALL)

    def _finish_run(self, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        self._finish_text()
        self._progress.end()
        look = self._paper.look
        told = [ending_of(ended), say("The answer above is cut short.") if was_cut else ""]
        words = " ".join(filter(None, told))
        if words:
            is_stop = ended.reason in (EndReason.FINISHED, EndReason.INTERRUPTED)
            sign, part = (look.glyphs.cancelled, Part.WARNING) if is_stop else (look.glyphs.failed, Part.BAD)
            self._print(_Kind.NOTE, hanging(Piece(sign, part), Piece(words), look=look))
        figures = self._figures.end(ended, self._clock())
        if figures.seconds >= _WORTH_TELLING:
            shown = f" {look.glyphs.separator} ".join(figures.words)
            self._print(_Kind.NOTE, Text(shown, look.style(Part.QUIET)))

    def _print_notice(self, noticed: Noticed | None) -> None:
        if noticed is None:
            return
        look = self._paper.look
        sign, part = {
            Severity.NOTE: (look.glyphs.bullet, Part.QUIET),
            Severity.WARNING: (look.glyphs.warning, Part.WARNING),
            Severity.ERROR: (look.glyphs.failed, Part.BAD),
        }[noticed.severity]
        word, words = Piece(f"{word_for_severity(noticed.severity)}: ", part), Piece(noticed.message.strip())
        self._print(_Kind.NOTE, hanging(Piece(sign, part), word, words, look=look))

    def _print_text(self, finished: list[RenderableType]) -> None:
        if finished:
            self._has_printed_of_answer = True
            self._print(_Kind.TEXT, *finished)

    def _finish_text(self) -> None:
        self._print_text(self._stream.finish())
        self._stream.reset()
        self._has_printed_of_answer = self._is_mid_answer = False

    def _print_folded(self, body: Folded, kind: "_Kind") -> None:
        if not body.text:
            return
        self._print(kind, body.closed(self._paper.look))
        if not body.is_whole:
            self._folded.add(body)

    def _print(self, kind: "_Kind", *blocks: RenderableType) -> None:
        """An empty line stands between what is not of one kind."""
        is_first, is_its_output = self._last is None, kind is _Kind.OUTPUT and self._last is _Kind.PROMPT
        is_apart = not is_first and not is_its_output and (kind is not self._last or kind in _APART)
        self._last = kind
        self._paper.print(*([Text("")] if is_apart else []), *blocks)

    def _draw(self) -> None:
        """Cheap, as it comes with every word: what is open is looked at when it is drawn."""
        is_live = self._progress.is_busy or self._stream.open() is not None
        self._paper.live(self._live if is_live else None)

    def _rows(self) -> RenderResult:
        opened = self._stream.open()
        if opened is not None:
            yield opened
        yield from self._progress.rows(self._paper.look, now=self._clock(), height=self._paper.height)


class _Kind(StrEnum):
    """What a printed block belongs to."""

    PROMPT = "prompt"
    OUTPUT = "output"
    TEXT = "text"
    CALL = "call"
    NOTE = "note"
    SHEET = "sheet"


_APART = frozenset({_Kind.PROMPT, _Kind.SHEET})
"""One of these is not followed closely by another."""


class _Live:
    """Rows that are made when they are drawn."""

    def __init__(self, rows: Callable[[], RenderResult]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return self._rows()

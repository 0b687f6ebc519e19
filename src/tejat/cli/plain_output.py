"""A run in plain lines: nothing is drawn over, nothing turns, and every sign is a word."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tejat.cli.style import Style
from tejat.core.agent_events import (
    AgentEvent,
    Answered,
    EndReason,
    Noticed,
    RequestFailed,
    Retrying,
    RunEnded,
    TextStreamed,
)
from tejat.core.events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.model import CONVERSATION
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated
from tejat.frontends.call_report import CallReport, report_of, title_of, word_for
from tejat.frontends.call_subject import on_one_line
from tejat.frontends.durations import in_words, whole_seconds
from tejat.frontends.folded_results import FoldedResults
from tejat.frontends.notices import ending_of, notice_of, side_failure, word_for_severity
from tejat.frontends.output import Streams, aside
from tejat.frontends.run_figures import money_in_words, tokens_in_words
from tejat.frontends.text_output import TextOutput

MOST_OPENED = 2000
"""Lines of one result that are shown when somebody asks for all of it."""

_MOST_AT_AN_END = 20
_LONGEST_LINE = 2000
_LONGEST_LAST_LINE = 200


@value
class Pace:
    """Seconds after which a call is said to run, and between two words of what still goes on."""

    first: float = 2.0
    every: float = 10.0


USUAL_PACE = Pace()


class PlainOutput:
    """Words of the model go to `result`, whole lines about everything else to `line`.

    `ring` is called when an answer is ready. Paths below `folder` are shown from there.
    """

    def __init__(
        self,
        result: Callable[[str], None],
        line: Callable[[str], None],
        style: Style,
        *,
        ring: Callable[[], None] = lambda: None,
        folder: str = "",
        pace: Pace = USUAL_PACE,
    ) -> None:
        self._text = TextOutput(Streams(result, line, is_terminal=True))
        self._write_line = line
        self._style = style
        self.ring = ring
        self._folder = folder
        self._totals = _Totals()
        self._folded = FoldedResults[str]()
        self._going_on = _GoingOn(self._beat, pace)
        self._is_mid_answer = False
        self._held: list[str] | None = None

    def begin(self) -> None:
        """Something begins that may take a while."""
        self._going_on.begin()

    def end(self) -> None:
        """It is over."""
        self._text.end_line()
        self._going_on.end()
        self.ring()

    @contextmanager
    def silence(self) -> Generator[None]:
        """Say nothing while somebody reads a question and types. What there was to say comes afterwards."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for text in held:
                self.line(text)

    def line(self, text: str) -> None:
        """A line or several, safe already."""
        if self._held is not None:
            self._held.append(text)
            return
        self._text.end_line()
        self._write_line(text)
        self._going_on.rest()

    def show_output(self, output: str) -> None:
        """What a command of the person has shown so far."""
        self._going_on.note_output(None, output)

    def block(self, text: str) -> None:
        """A text that may be long: the first and the last lines of it; the whole can be opened."""
        shown, is_whole = _bounded(text)
        if shown:
            self.line(shown)
        if not is_whole:
            self._folded.add(text)

    def open_last(self) -> None:
        """All of what was shown in part last; asked again, of the one before it."""
        found = self._folded.take()
        if found is None:
            return self.line(say("Nothing was shown in part only."))
        lines = found.split("\n")
        self.line("\n".join(lines[:MOST_OPENED]))
        if len(lines) > MOST_OPENED:
            more = len(lines) - MOST_OPENED
            self.line(say_count("[{count} more line is not shown]", "[{count} more lines are not shown]", more))
        return None

    def tell(self, event: AgentEvent) -> None:
        self._totals.count(event)
        match event:
            case TextStreamed():
                self._is_mid_answer = True
                self._text.tell(event)
                self._going_on.rest()
            case Answered(purpose=purpose) if purpose == CONVERSATION:
                self._is_mid_answer = False
                self._text.tell(event)
            case Retrying():
                self._tell_retry(event)
            case StateChanged(index, call, CallState.EXECUTING):
                self._going_on.call(index, title_of(call, folder=self._folder))
            case OutputUpdated(index, output=output):
                self._going_on.note_output(index, output)
            case CallFinished():
                self._going_on.finish(event.index)
                self._show_call(report_of(event, folder=self._folder))
            case RequestFailed():
                self._notice(side_failure(event))
            case RunEnded():
                self._tell_end(event)
            case _:
                self._notice(notice_of(event))

    def figures(self) -> str:
        """What the whole session came to, in a line; empty where nothing was asked."""
        return self._totals.words

    def _beat(self, text: str) -> None:
        if self._held is None:
            self.line(text)

    def _show_call(self, report: CallReport) -> None:
        told = [self._style.bold(f"{word_for(report.status)}: {report.title}"), *report.facts]
        self.line(", ".join(told))
        for words in (report.error, report.note):
            if words:
                self.line(words)
        if report.patch:
            self.line(self._style.diff(report.patch))
        elif report.body:
            self.block(report.body)

    def _tell_retry(self, event: Retrying) -> None:
        self.line(visible(translated(aside(event) or "")))
        if event.purpose == CONVERSATION and self._is_mid_answer:
            self._is_mid_answer = False
            self.line(say("What the model said in this attempt does not count."))

    def _tell_end(self, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        words = [ending_of(ended), say("The answer is cut short.") if was_cut else ""]
        self._is_mid_answer = False
        told = " ".join(filter(None, words))
        self._text.end_line()
        if told:
            self.line(visible(translated(told)))

    def _notice(self, noticed: Noticed | None) -> None:
        if noticed is not None:
            self.line(visible(f"{word_for_severity(noticed.severity)}: {translated(noticed.message).strip()}"))


class _GoingOn:
    """Says in a line what still goes on, when nothing else was said for a while."""

    def __init__(self, line: Callable[[str], None], pace: Pace) -> None:
        self._line = line
        self._pace = pace
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None
        self._calls: dict[int, tuple[str, float]] = {}
        self._told: set[int] = set()
        self._output: dict[int | None, str] = {}

    def begin(self) -> None:
        self.end()
        self._since = time.monotonic()
        self.rest()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._since = None
        self._calls.clear()
        self._told.clear()
        self._output.clear()

    def call(self, index: int, title: str) -> None:
        self._calls[index] = title, time.monotonic()
        self._told.discard(index)
        self._wait(self._pace.first)

    def note_output(self, index: int | None, output: str) -> None:
        self._output[index] = output[-10 * _LONGEST_LAST_LINE :].rstrip().rpartition("\n")[2]

    def finish(self, index: int) -> None:
        self._calls.pop(index, None)
        self._output.pop(index, None)

    def rest(self) -> None:
        """Something was said just now."""
        is_new = any(index not in self._told for index in self._calls)
        self._wait(self._pace.first if is_new else self._pace.every)

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._since is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._beat)

    def _beat(self) -> None:
        self._timer = None
        now = time.monotonic()
        for index, (title, since) in sorted(self._calls.items()):
            if index in self._told:
                elapsed = whole_seconds(now - since)
                self._line(say("Still running: {call}, {elapsed}", call=title, elapsed=elapsed) + self._last(index))
            else:
                self._told.add(index)
                self._line(say("Running: {call}", call=title))
        if not self._calls and self._since is not None:
            self._line(say("Still at work, {elapsed}", elapsed=whole_seconds(now - self._since)) + self._last(None))
        self.rest()

    def _last(self, index: int | None) -> str:
        last = on_one_line(self._output.get(index, ""), most=_LONGEST_LAST_LINE)
        return f". {say('Last line: {line}', line=last)}" if last else ""


class _Totals:
    """What a whole session came to."""

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
    def words(self) -> str:
        if self._ended is None:
            return ""
        told = [
            say_count("{count} prompt", "{count} prompts", self._runs),
            say_count("{count} call", "{count} calls", self._calls),
        ]
        if self._ended.usage.total:
            told.append(tokens_in_words(self._ended.usage.total, self._ended.usage.cached))
        if self._ended.cost:
            told.append(money_in_words(self._ended.cost))
        told.append(in_words(time.monotonic() - self._began))
        return say("This session: {figures}.", figures=", ".join(told))


def _bounded(text: str) -> tuple[str, bool]:
    """Of many lines only the first and the last, and whether that is all."""
    lines = text.strip("\n").split("\n")
    left_out = len(lines) - 2 * _MOST_AT_AN_END
    if left_out > 0:
        told = say_count("{count} more line", "{count} more lines", left_out)
        lines[_MOST_AT_AN_END:-_MOST_AT_AN_END] = [f"[{told}: {say('a line of only + shows all of it')}]"]
    is_whole = left_out <= 0 and all(len(line) <= _LONGEST_LINE for line in lines)
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [...]" for line in lines]
    return "\n".join(shown), is_whole

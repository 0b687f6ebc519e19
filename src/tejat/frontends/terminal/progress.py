"""What is going on right now: calls that run, an answer that is on its way, an attempt that is waited for."""

import re
from collections.abc import Iterator

from rich.console import RenderableType

from tejat.core.agent_events import Retrying, ThoughtStreamed
from tejat.core.events import CallState, OutputUpdated, StateChanged
from tejat.core.value import replace
from tejat.core.words import say, say_count
from tejat.frontends.call_report import title_of
from tejat.frontends.call_subject import on_one_line
from tejat.frontends.durations import whole_seconds
from tejat.frontends.terminal.call_lines import RunningCall, output_rows, running_rows
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.single_row import Piece, SingleRow, hanging

_MOST_OUTPUT = 5
_MOST_THOUGHT = 4000
_SUBJECT = re.compile(r"\*\*(.+?)\*\*")
_OVER = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class Progress:
    """Knows what to draw below the finished blocks. It is told of events together with the time they came at."""

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
        self.go_on()

    def go_on(self, *, is_answering: bool = False) -> None:
        """The model has said something, or is done: nothing is thought over or waited for any more."""
        self._thought, self._retry, self._is_answering = "", None, is_answering

    def think(self, event: ThoughtStreamed) -> None:
        self._retry = None
        self._thought = (self._thought + event.text)[-_MOST_THOUGHT:]

    def retry(self, event: Retrying, now: float) -> None:
        self.go_on()
        self._retry = event, now + event.wait

    def change(self, event: StateChanged, now: float) -> None:
        """A call goes on to its next state; one that is over leaves with its last event."""
        if event.state in _OVER:
            return
        self.go_on()
        known = self._calls.get(event.index)
        output = known.output if known is not None and event.state is not CallState.VALIDATING else ""
        self._calls[event.index] = RunningCall(title_of(event.call, folder=self._folder), event.state, now, output)

    def update(self, event: OutputUpdated) -> None:
        known = self._calls.get(event.index)
        if known is not None:
            self._calls[event.index] = replace(known, output=event.output)

    def finish(self, index: int) -> None:
        self._calls.pop(index, None)

    def show_output(self, output: str) -> None:
        """Of a command that the person runs themselves."""
        self._shell = output

    def rows(self, look: Look, *, now: float, height: int) -> Iterator[RenderableType]:
        """At most about a third of the screen."""
        room = max(height // 3, 2)
        if self._calls:
            yield from self._call_rows(look, now=now, room=room)
        elif self._retry is not None:
            yield from _retry_rows(*self._retry, look, now=now)
        elif self._since is not None:
            if self._shell is not None:
                yield from output_rows(self._shell, look, most=min(2 * _MOST_OUTPUT, room))
            yield self._working(look, now - self._since)

    def _call_rows(self, look: Look, *, now: float, room: int) -> Iterator[RenderableType]:
        calls = [self._calls[index] for index in sorted(self._calls)]
        shown = calls[: room - 1] if len(calls) > room else calls
        most_output = min(_MOST_OUTPUT, (room - len(shown)) // max(len(shown), 1))
        for call in shown:
            yield from running_rows(call, look, now=now, most_output=max(most_output, 0))
        if len(shown) < len(calls):
            more = say_count("and {count} more call", "and {count} more calls", len(calls) - len(shown))
            yield SingleRow(look, Piece(f"{look.glyphs.more} {more}", Part.QUIET))

    def _working(self, look: Look, seconds: float) -> RenderableType:
        subject = _subject(self._thought)
        if subject:
            told = say("Thinking: {subject}", subject=subject)
        elif self._thought:
            told = say("Thinking")
        elif self._shell is not None:
            told = say("Running")
        else:
            told = say("Answering") if self._is_answering else say("Working")
        return SingleRow(
            look,
            Piece(f"{look.glyphs.running} ", Part.ACCENT),
            Piece(told, Part.QUIET, gives_way=True),
            Piece(f" {look.glyphs.separator} {whole_seconds(seconds)}", Part.QUIET),
            Piece(f" {look.glyphs.separator} {say('Esc stops it')}", Part.QUIET),
        )


def _retry_rows(retry: Retrying, until: float, look: Look, *, now: float) -> Iterator[RenderableType]:
    reason = on_one_line(retry.reason)
    failed = say("Attempt {attempt} of {most} failed: {reason}", attempt=retry.attempt, most=retry.most, reason=reason)
    left = max(round(until - now), 0)
    then = say("Next try in {seconds} s", seconds=left) if left else say("Trying again")
    yield hanging(Piece(look.glyphs.warning, Part.WARNING), Piece(failed, Part.WARNING), look=look)
    yield SingleRow(look, Piece(f"  {then}", Part.QUIET))


def _subject(thought: str) -> str:
    """The heading of the latest thought where there is one, else its first words."""
    headings = _SUBJECT.findall(thought)
    return on_one_line(headings[-1] if headings else thought.strip().partition("\n")[0], most=100)

"""Calls on the screen: a row that changes while they run, one honest line when they are over."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from tejat.core.events import CallState
from tejat.core.value import value
from tejat.core.words import say
from tejat.frontends.call_report import CallReport, CallStatus, word_for
from tejat.frontends.durations import whole_seconds
from tejat.frontends.terminal.folding import Folded
from tejat.frontends.terminal.look import Glyphs, Look, Part
from tejat.frontends.terminal.single_row import Piece, SingleRow, fits, hanging, row_of

_LEAST_TITLE = 12
_LONGEST_LIVE = 400


@value
class RunningCall:
    """A call that is not over. `since` is when it began to run, `output` what it has shown so far."""

    title: str
    state: CallState
    since: float
    output: str = ""


class FinishedLine:
    """Sign and word, what it was about, what came of it, exit code and duration; the reason below, if it failed."""

    def __init__(self, report: CallReport, look: Look) -> None:
        self._report = report
        self._look = look

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, look, width = self._report, self._look, options.max_width
        glyph, part = _sign(report.status, look.glyphs)
        word = Piece(f"{glyph} {word_for(report.status)}", part)
        changed = Piece(f" {report.changed}" if report.changed else "")
        head = [word, Piece(f" {report.name} {report.subject}".rstrip(), gives_way=True), changed]
        facts = [Piece(f" {look.glyphs.separator} {fact}", Part.QUIET) for fact in report.facts]
        note = Piece(f" {look.glyphs.separator} {report.note}", Part.QUIET)
        if report.note and fits([*head, note, *facts], width=width):
            yield row_of([*head, note, *facts], look, width=width)
            return
        if fits([word, changed, *facts], width=width - _LEAST_TITLE):
            yield row_of([*head, *facts], look, width=width)
        else:
            yield row_of(head, look, width=width)
            yield row_of([Piece("  " + ", ".join(report.facts), Part.QUIET)], look, width=width)
        below = report.error or report.note
        if below:
            part = Part.QUIET if report.status is CallStatus.OK else Part.TEXT
            yield hanging(Piece(" "), Piece(below, part), look=look)


def folded(report: CallReport) -> Folded | None:
    """What there is to see of a call besides its line."""
    if report.patch:
        return Folded(report.title, report.patch, is_patch=True)
    return Folded(report.title, report.body) if report.body else None


def running_rows(call: RunningCall, look: Look, *, now: float, most_output: int) -> Iterator[RenderableType]:
    """The row of a call that is not over, and the last lines of what it shows."""
    glyphs = look.glyphs
    match call.state:
        case CallState.AWAITING_APPROVAL:
            sign, told = glyphs.waiting, say("waits for your answer")
        case CallState.EXECUTING:
            sign, told = glyphs.running, whole_seconds(now - call.since)
        case _:
            sign, told = glyphs.waiting, say("waits")
    yield SingleRow(
        look,
        Piece(f"{sign} ", Part.ACCENT),
        Piece(call.title, gives_way=True),
        Piece(f" {glyphs.separator} {told}", Part.QUIET),
    )
    if call.state is CallState.EXECUTING:
        yield from output_rows(call.output, look, most=most_output)


def output_rows(output: str, look: Look, *, most: int) -> Iterator[RenderableType]:
    """The last lines of a text that may be long."""
    lines = [line for line in output[-most * _LONGEST_LIVE :].splitlines() if line.strip()]
    for line in lines[-most:] if most > 0 else ():
        yield SingleRow(look, Piece(f"  {look.glyphs.bar} ", Part.QUIET), Piece(line[:_LONGEST_LIVE], Part.QUIET))


def _sign(status: CallStatus, glyphs: Glyphs) -> tuple[str, Part]:
    return {
        CallStatus.OK: (glyphs.ok, Part.GOOD),
        CallStatus.FAILED: (glyphs.failed, Part.BAD),
        CallStatus.DENIED: (glyphs.denied, Part.WARNING),
        CallStatus.CANCELLED: (glyphs.cancelled, Part.WARNING),
        CallStatus.TIMED_OUT: (glyphs.timed_out, Part.BAD),
    }[status]

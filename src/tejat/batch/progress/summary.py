"""The totals of a batch in one line that fits, and at its end in full."""

from collections.abc import Iterable, Mapping

from tejat.batch.events import BatchEnded
from tejat.batch.progress.tally import BatchTally
from tejat.batch.result import TaskStatus
from tejat.batch.text.columns import cut_end, one_line
from tejat.batch.text.labels import STATUS_TONES, count_labels
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.ui.report import Tone
from tejat.ui.shared.labels.durations import format_duration, format_elapsed
from tejat.ui.shared.labels.run_summary import format_cost, format_tokens
from tejat.ui.terminal.render.cells import text_width

_MINUTE, _HOUR = 60, 3600


class SummaryPart(Frozen):
    """A part of a summary. Those with a low `rank` stay longest when there is little room."""

    text: str
    rank: int
    tone: Tone = Tone.PLAIN


def summary_line(tally: BatchTally, now: float, style: TerminalStyle, width: int) -> str:
    """The state of a running batch in at most `width` columns."""
    return join_parts(_running_parts(tally, now), style, width)


def join_parts(parts: Iterable[SummaryPart], style: TerminalStyle, width: int) -> str:
    """Join the parts, without the least important ones where there is no room for them."""
    kept = list(parts)
    separator = style.signs.separator
    while len(kept) > 1 and text_width(separator.join(part.text for part in kept)) > width:
        kept.remove(max(kept, key=lambda part: part.rank))
    if len(kept) == 1:
        return style.paint(cut_end(style.encodable(kept[0].text), width, style.signs.cut), kept[0].tone)
    return separator.join(style.paint(style.encodable(part.text), part.tone) for part in kept)


def end_parts(tally: BatchTally, now: float) -> list[SummaryPart]:
    """The parts of the final summary: of the last event, or as far as the batch came without it."""
    ended = tally.ended
    if ended is None:
        counts, cost, tokens, seconds = dict(tally.counts), tally.cost, tally.tokens, now - tally.began
        unknown = tally.unknown_costs
    else:
        counts, cost, tokens, seconds = _counts_of(ended), ended.cost, ended.tokens, ended.seconds
        unknown = ended.unknown_costs
    done = sum(counts.values())
    parts = [SummaryPart(_done_label(done, max(tally.total, done)), 0, Tone.STRONG), *_status_parts(counts)]
    if cost:
        parts.append(SummaryPart(format_cost(cost), 2))
    if unknown:
        parts.append(SummaryPart(ngettext("{count} price unknown", "{count} prices unknown", unknown), 3))
    if tokens:
        parts.append(SummaryPart(format_tokens(tokens, 0), 4))
    return [*parts, SummaryPart(format_duration(seconds), 1)]


def end_reason(tally: BatchTally) -> str:
    """Why the batch stopped before its end, as a safe line; empty if it did not."""
    if tally.ended is None:
        return _("Interrupted. Run the same command again to resume.")
    return one_line(tally.ended.reason)


def _running_parts(tally: BatchTally, now: float) -> list[SummaryPart]:
    parts = [SummaryPart(_done_label(tally.done, tally.total), 0, Tone.STRONG), *_status_parts(tally.counts)]
    if tally.running:
        count = f"{len(tally.running):,}"
        parts.append(SummaryPart(_("{count} running", count=count), 6))
    if tally.waiting:
        parts.append(SummaryPart(_("{count} waiting", count=f"{tally.waiting:,}"), 8))
    if tally.cost:
        parts.append(SummaryPart(format_cost(tally.cost), 3))
    if tally.tokens:
        parts.append(SummaryPart(format_tokens(tally.tokens, 0), 9))
    parts.append(SummaryPart(format_elapsed(now - tally.began), 7))
    left = tally.seconds_left(now)
    return parts if left is None else [*parts, SummaryPart(_left_label(left), 4)]


def _status_parts(counts: Mapping[TaskStatus, int]) -> list[SummaryPart]:
    ranks = {TaskStatus.PASSED: 5, TaskStatus.FAILED: 1, TaskStatus.ERROR: 2, TaskStatus.SKIPPED: 6}
    return [SummaryPart(label, ranks[status], STATUS_TONES[status]) for status, label in count_labels(counts).items()]


def _done_label(done: int, total: int) -> str:
    return _("{done}/{total} done", done=f"{done:,}", total=f"{total:,}")


def _left_label(seconds: float) -> str:
    """The estimate, rounded so that it does not flicker."""
    if seconds < _MINUTE:
        return _("under 1 min left")
    step = _MINUTE if seconds < _HOUR else 10 * _MINUTE
    return _("about {time} left", time=format_duration(max(round(seconds / step), 1) * step))


def _counts_of(ended: BatchEnded) -> dict[TaskStatus, int]:
    known = {status.value: status for status in TaskStatus}
    return {known[name]: count for name, count in ended.counts.items() if name in known}

"""Progress for pipes and logs: a plain line per finished task, and the totals now and then."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from tejat.batch.events import BatchEvent, BatchNoticed, BatchStarted, TaskEnded, TaskRetried
from tejat.batch.progress.summary import end_parts, end_reason, join_parts, summary_line
from tejat.batch.progress.tally import BatchTally
from tejat.batch.progress.task_lines import result_line, retry_text
from tejat.batch.progress.timer import OutputTimer
from tejat.batch.text.columns import one_line
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.i18n import ngettext

_SUMMARY_SECONDS = 30.0
_QUIET_SUMMARY_SECONDS = 300.0
"""Time between two summaries while no task ends."""
_ANY_WIDTH = 10_000


class ProgressLines:
    """A listener that writes lines without control characters or colours. A context manager: totals come last."""

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._style = TerminalStyle(self._stream, is_coloured=False)
        self._clock = clock
        self._tally = BatchTally(clock())
        self._timer = OutputTimer(self._summarize)
        self._summarized_at = clock()
        self._summarized: int = 0

    def __enter__(self) -> "ProgressLines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.stop()
        if not self._tally.has_started:
            return  # an error that the caller reports
        now = self._clock()
        self._print(join_parts(end_parts(self._tally, now), self._style, _ANY_WIDTH))
        if reason := end_reason(self._tally):
            self._print(reason)

    def __call__(self, event: BatchEvent) -> None:
        now = self._clock()
        self._tally.record(event, now)
        match event:
            case BatchStarted(total=total):
                self._summarized_at = now
                self._summarized = self._tally.done
                self._print(ngettext("{count} task", "{count} tasks", total))
            case TaskEnded(result):
                self._print(result_line(result, self._style))
            case TaskRetried():
                self._print(f"{self._style.signs.retry} {retry_text(event)}")
            case BatchNoticed(message):
                self._print(f"{self._style.signs.notice} {one_line(message)}")
            case _:
                pass
        if self._tally.ended is None and not self._timer.call_within(self._wait(now)) and self._wait(now) <= 0:
            self._summarize()

    def _wait(self, now: float) -> float:
        """Seconds until the next summary."""
        return self._summarized_at + _SUMMARY_SECONDS - now

    def _summarize(self) -> None:
        """Print the totals, if they are new or it has been quiet for long."""
        now = self._clock()
        is_due = now - self._summarized_at >= _QUIET_SUMMARY_SECONDS or self._tally.done != self._summarized
        if is_due and self._wait(now) <= 0:
            self._print(summary_line(self._tally, now, self._style, _ANY_WIDTH))
            self._summarized_at, self._summarized = now, self._tally.done
        self._timer.call_within(_SUMMARY_SECONDS)

    def _print(self, line: str) -> None:
        with suppress(OSError, ValueError):
            print(self._style.encodable(line), file=self._stream, flush=True)

"""Lines for logs: what ended, and the totals now and then, without control characters."""

import asyncio
import io
from contextlib import suppress

import pytest

from support.batch_results import errored, passed
from support.wait import wait_until_async
from tejat.batch.events import BatchEnded, BatchNoticed, BatchStarted, TaskEnded, TaskRetried, TaskStarted
from tejat.batch.progress import lines as lines_module
from tejat.batch.progress.lines import ProgressLines


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_whole_batch() -> None:
    stream, clock = io.StringIO(), Clock()
    with ProgressLines(stream, clock=clock) as show:
        show(BatchStarted(3, jobs=2))
        show(TaskStarted("a", 1))
        show(TaskEnded(passed("a")))
        show(BatchNoticed("Rate limit of gemini: 60 per minute."))
        show(TaskRetried("b", 1, "overloaded", 5.0))
        show(TaskEnded(errored("b\x1b[31m\n")))
        clock.now += 30
        show(TaskEnded(passed("c")))
        show(BatchEnded({"passed": 2, "error": 1}, 0.04, 4000, 30.0))
    assert stream.getvalue().splitlines() == [
        "3 tasks",
        "✓ a  passed  12 s  $0.02  +10 -2",
        "▲ Rate limit of gemini: 60 per minute.",
        "↻ b: attempt 1 failed, next one in 5.0 s: overloaded",
        "! b  error  No such repository: /src/x.",
        "✓ c  passed  12 s  $0.02  +10 -2",
        "3/3 done · 2 passed · 1 error · $0.04 · 4,000 tokens · 30 s",
        "3/3 done · 2 passed · 1 error · $0.04 · 4,000 tokens · 30 s",
    ]


def test_a_batch_that_cannot_start_has_no_totals() -> None:
    stream = io.StringIO()
    with ProgressLines(stream, clock=Clock()) as show:
        show(BatchNoticed("One line."))
    assert stream.getvalue() == "▲ One line.\n"


def test_a_summary_at_most_every_thirty_seconds_and_only_with_news() -> None:
    stream, clock = io.StringIO(), Clock()
    show = ProgressLines(stream, clock=clock)
    show(BatchStarted(9))
    show(TaskStarted("a", 1))
    for _second in range(299):
        clock.now += 1
        show(TaskStarted("a", 1))
    assert stream.getvalue().splitlines() == ["9 tasks"]
    clock.now += 1
    show(TaskStarted("a", 1))
    assert stream.getvalue().splitlines()[1:] == ["0/9 done · 1 running · 8 waiting · 5 min"]
    show(TaskEnded(passed("a")))
    clock.now += 29
    show(TaskStarted("b", 1))
    assert len(stream.getvalue().splitlines()) == 3
    clock.now += 1
    show(TaskStarted("b", 1))
    assert len(stream.getvalue().splitlines()) == 4


def test_summaries_come_without_events(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        monkeypatch.setattr(lines_module, "_SUMMARY_SECONDS", 0.01)
        monkeypatch.setattr(lines_module, "_QUIET_SUMMARY_SECONDS", 0.01)
        stream = io.StringIO()
        with ProgressLines(stream) as show:
            show(BatchStarted(9))
            await wait_until_async(lambda: stream.getvalue().count("0/9 done") >= 2)

    asyncio.run(run())


def test_an_interrupted_batch_ends_with_how_to_resume() -> None:
    stream = io.StringIO()
    with suppress(KeyboardInterrupt), ProgressLines(stream) as show:
        show(BatchStarted(2))
        raise KeyboardInterrupt
    assert stream.getvalue().splitlines()[-1] == "Interrupted. Run the same command again to resume."


def test_colours_are_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    with ProgressLines(stream) as show:
        show(BatchStarted(1))
        show(TaskEnded(errored("a")))
    assert "\x1b" not in stream.getvalue()


def test_a_closed_stream_is_no_error() -> None:
    stream = io.StringIO()
    with ProgressLines(stream) as show:
        stream.close()
        show(BatchStarted(1))

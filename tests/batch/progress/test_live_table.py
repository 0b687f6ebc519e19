"""The live table on a terminal: what scrolls away, what stays, what is left at the end."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from support.batch_results import errored, failed, passed
from support.terminal.emulator import TerminalEmulator
from support.terminal.live_output import LiveOutput, open_output
from support.terminal.screen import open_screen
from support.wait import wait_until_async
from tejat.batch.events import (
    BatchEnded,
    BatchEvent,
    BatchNoticed,
    BatchStarted,
    TaskEnded,
    TaskPhase,
    TaskProgressed,
    TaskRetried,
    TaskStarted,
)
from tejat.batch.progress.live_table import LiveTable


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("XTERM_VERSION", "XTerm(390)")  # the emulator does not wrap rows anew


def play(show: Callable[[BatchEvent], None], clock: Clock, *events: BatchEvent) -> None:
    """Events with a second after each, so that every one is drawn."""
    for event in events:
        clock.now += 1
        show(event)


FIRST_EVENTS: tuple[BatchEvent, ...] = (
    BatchStarted(5, jobs=2),
    TaskStarted("django-1", 1),
    TaskProgressed("django-1", TaskPhase.RUNNING, "replace src/price.py", 900),
    TaskStarted("日本語-2", 1),
    TaskProgressed("日本語-2", TaskPhase.CHECKING, "make \x1b[31mtest\x07\n", 50),
    BatchNoticed("Rate limit of gemini: 60 per minute."),
    TaskEnded(passed("django-1")),
    TaskStarted("evil\x1b[2J\r\n\u202eid", 1),
    TaskRetried("evil\x1b[2J\r\n\u202eid", 1, "HTTP 529\x1b[H", 4.0),
    TaskEnded(errored("e")),
    TaskStarted("d3", 1),
)

SCREENS = {
    (100, 30): """\
▲ Rate limit of gemini: 60 per minute.
✓ django-1  passed          12 s     $0.02  +10 -2
↻ evil <U+202E>id: attempt 1 failed, next one in 4.0 s: HTTP 529
! e                error                           No such repository: /src/x.
● 日本語-2         checking   make test<U+0007>                                                 7 s
● d3               preparing                                                                    0 s
##########!!!!!!!!!!!.................................  40 %
2/5 done · 1 passed · 1 error · 2 running · 1 waiting · $0.02 · 2,050 tokens · 10 s""",
    (80, 24): """\
▲ Rate limit of gemini: 60 per minute.
✓ django-1  passed          12 s     $0.02  +10 -2
↻ evil <U+202E>id: attempt 1 failed, next one in 4.0 s: HTTP 529
! e                error                           No such repository: /src/x.
● 日本語-2         checking   make test<U+0007>                             7 s
● d3               preparing                                                0 s
##########!!!!!!!!!!!.................................  40 %
2/5 done · 1 passed · 1 error · 2 running · 1 waiting · $0.02 · 10 s""",
    (40, 24): """\
▲ Rate limit of gemini: 60 per minute.
✓ django-1  12 s  +10 -2
↻ evil <U+202E>id: attempt 1 failed,
  next one in 4.0 s: HTTP 529
! e              No such repository:
  /src/x.
● 日本語-2       checking   7 s
● d3             preparing  0 s
######!!!!!!!....................  40 %
2/5 done · 1 passed · 1 error · $0.02""",
}


def run_first_events(output: LiveOutput) -> tuple[LiveTable, Clock]:
    clock = Clock()
    table = LiveTable(output.stream, clock=clock)
    play(table, clock, *FIRST_EVENTS)
    return table, clock


@pytest.mark.parametrize("size", SCREENS)
def test_screens(size: tuple[int, int]) -> None:
    with open_output(*size) as output:
        run_first_events(output)
        assert output.screen.history() == SCREENS[size]
        assert output.screen.unknown == []
        assert output.screen.is_cursor_visible


@pytest.mark.parametrize(("columns", "rows"), [(100, 30), (80, 24), (40, 24), (20, 8), (10, 3)])
def test_a_long_batch_shows_every_result_once_and_the_area_once(columns: int, rows: int) -> None:
    with open_output(columns, rows) as output:
        clock = Clock()
        with LiveTable(output.stream, clock=clock) as show:
            play(show, clock, BatchStarted(60, jobs=20))
            for number in range(60):
                play(show, clock, TaskStarted(f"t{number:02d}", 1))
                _ = output.screen
                if number >= 20:
                    play(show, clock, TaskEnded(passed(f"t{number - 20:02d}")))
                    _ = output.screen
            assert sum("40/60" in line for line in output.lines) == 1
            assert output.lines[-1].startswith("40/60")
            for number in range(40, 60):
                play(show, clock, TaskEnded(failed(f"t{number:02d}")))
                _ = output.screen
            play(show, clock, BatchEnded({"passed": 40, "failed": 20}, 1.4, 98_000, 90.0))
        finished = [line for line in output.lines if line.startswith(("✓", "✗"))]
        assert [line.split()[1] for line in finished] == [f"t{number:02d}" for number in range(60)]
        assert not any(line.startswith("●") for line in output.lines)
        assert output.screen.cursor[0] == 0


def test_at_the_end_the_totals_replace_the_area() -> None:
    with open_output() as output:
        clock = Clock()
        with LiveTable(output.stream, clock=clock) as show:
            play(show, clock, BatchStarted(2), TaskStarted("a", 1), TaskEnded(passed("a")), TaskStarted("b", 1))
            play(show, clock, TaskEnded(failed("b")), BatchEnded({"passed": 1, "failed": 1}, 0.05, 2900, 21.0))
        assert output.lines == [
            "✓ a         passed          12 s     $0.02  +10 -2",
            "✗ b         failed         9.0 s     $0.03  check failed (exit 1)",
            "2/2 done · 1 passed · 1 failed · $0.05 · 2,900 tokens · 21 s",
        ]


def test_a_batch_that_stopped_says_why() -> None:
    with open_output(40) as output:
        with LiveTable(output.stream) as show:
            show(BatchStarted(200))
            show(BatchEnded({"passed": 10, "skipped": 190}, 10.1, 9_000_000, 500.0, "Cost limit of $10 reached."))
        assert output.lines == [
            "200/200 done · 10 passed · 190 skipped",
            "· $10.10 · 9.0M tokens · 8 min 20 s",
            "Cost limit of $10 reached.",
        ]


def test_an_error_in_the_middle_leaves_totals_and_no_rows() -> None:
    with open_output() as output:
        with suppress(ZeroDivisionError), LiveTable(output.stream) as show:
            show(BatchStarted(2))
            show(TaskStarted("a", 1))
            raise ZeroDivisionError
        assert output.lines[-1] == "Interrupted. Run the same command again to resume."
        assert not any(line.startswith("●") for line in output.lines)


def test_frames_are_whole_and_only_drawn_for_news() -> None:
    with open_output() as output:
        table, clock = run_first_events(output)
        assert output.screen.written_outside_of_frames == 0
        before = output.screen.written
        table(TaskProgressed("d3", TaskPhase.PREPARING))
        clock.now += 0.2
        table(TaskProgressed("d3", TaskPhase.PREPARING))
        assert output.screen.written == before


def test_many_events_in_a_moment_are_few_frames() -> None:
    with open_output() as output:
        clock = Clock()
        with LiveTable(output.stream, clock=clock) as show:
            show(BatchStarted(1000, jobs=8))
            for number in range(1000):
                clock.now += 0.001
                show(TaskStarted(f"t{number}", 1))
                show(TaskProgressed(f"t{number}", TaskPhase.RUNNING, f"step {number}"))
                show(TaskRetried(f"t{number}", 1, "x", 1.0)) if number % 100 == 0 else None
                _ = output.screen
        assert output.screen.frames <= 10


def test_a_resized_terminal() -> None:
    with open_output(100, 30) as output:
        table, clock = run_first_events(output)
        for columns, rows in ((60, 24), (100, 12), (40, 24), (120, 40)):
            output.resize(columns, rows)
            play(table, clock, TaskProgressed("d3", TaskPhase.RUNNING, f"at {columns}"))
            live = [line for line in output.lines if line.startswith("●")]
            assert len(live) == 2, output.lines
            assert sum("2/5 done" in line for line in output.lines) == 1


def test_a_terminal_that_wraps_rows_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XTERM_VERSION")
    with open_output(100, 30) as output:
        table, clock = run_first_events(output)
        _ = output.screen
        output.resize(50, 30)
        before = len(output.raw)
        play(table, clock, TaskProgressed("d3", TaskPhase.RUNNING))
        _ = output.screen
        # Two running tasks and the summary have become two rows each, the bar of 60 columns too.
        assert b"\x1b[8A" in output.raw[before:]


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    with open_output() as output:
        run_first_events(output)
        assert output.screen.style_of("✓").fg == "2"
        assert output.screen.style_of("1 error").fg == "3"
        assert output.screen.style_of("━").fg == "2"
        assert output.screen.style_of("make test").dim


def test_an_encoding_without_signs() -> None:
    with open_output(encoding="ascii") as output:
        run_first_events(output)
        assert "+ django-1" in output.screen.history()
        assert "* ??????-2" in output.screen.history()


def test_a_terminal_that_is_gone_is_no_error() -> None:
    controller, line = os.openpty()
    with open(line, "w", encoding="utf-8") as stream, LiveTable(stream) as show:
        os.close(controller)
        show(BatchStarted(2))
        show(TaskStarted("a", 1))


def test_the_clock_moves_without_events() -> None:
    async def run(output: LiveOutput) -> None:
        with LiveTable(output.stream) as show:
            show(BatchStarted(2))
            show(TaskStarted("a", 1))
            await wait_until_async(lambda: seconds_of(output) >= 2)
            # A frame for each second, one for the events, and one for good measure.
            assert output.screen.frames <= seconds_of(output) + 2

    def seconds_of(output: LiveOutput) -> int:
        return max((int(found) for found in re.findall(r"(\d+) s$", output.screen.text(), re.MULTILINE)), default=0)

    with open_output() as output:
        asyncio.run(run(output))


def test_a_new_size_is_drawn_at_once() -> None:
    async def run(output: LiveOutput) -> None:
        with LiveTable(output.stream, clock=lambda: 0.0) as show:
            show(BatchStarted(2))
            show(TaskStarted("a", 1))
            show(TaskProgressed("a", TaskPhase.RUNNING, "a long activity that is cut on a narrow terminal"))
            await wait_until_async(lambda: "narrow terminal" in output.screen.text())
            output.resize(60, 24)
            os.kill(os.getpid(), signal.SIGWINCH)
            await wait_until_async(lambda: "…" in output.screen.text())

    before = signal.getsignal(signal.SIGWINCH)
    with open_output(100, 24) as output:
        asyncio.run(run(output))
    assert signal.getsignal(signal.SIGWINCH) is before


PROGRAM = """
import asyncio
from tejat.batch.events import BatchStarted, TaskStarted
from tejat.batch.progress.live_table import LiveTable

async def main():
    with LiveTable() as show:
        show(BatchStarted(2, jobs=1))
        show(TaskStarted("django-1", 1))
        await asyncio.Event().wait()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("over")
"""


def test_ctrl_c_restores_the_terminal(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with open_screen(program, program=(sys.executable,), columns=60) as user:
        user.wait_for("0/2 done")
        user.press("c-c")
        user.wait_for("over")
        assert user.wait_for_exit() == 0
        shown = _rows(user.screen)
        assert shown[0].startswith("0/2 done")
        assert shown[1:] == ["Interrupted. Run the same command again to resume.", "over"]
        assert user.modes_are_restored()


def _rows(screen: TerminalEmulator) -> list[str]:
    return [line for line in screen.lines() if line]

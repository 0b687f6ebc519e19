"""The summary: all of it where there is room, the most important parts in any width."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from support.batch_results import passed
from tejat.batch.events import BatchEnded, BatchStarted, TaskEnded, TaskStarted
from tejat.batch.progress.summary import end_parts, end_reason, join_parts, summary_line
from tejat.batch.progress.tally import BatchTally
from tejat.batch.result import TaskStatus
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width
from tejat.workspace.text.terminal_text import strip_sequences

PLAIN = TerminalStyle(None)
COLOURED = TerminalStyle(None, is_coloured=True)


def make_tally() -> BatchTally:
    tally = BatchTally(0.0)
    finished = {"passed": 27, "failed": 5, "error": 2}
    tally.record(BatchStarted(200, finished, 1.18, 3_094_000, jobs=4), 0.0)
    for number in range(3):
        tally.record(TaskStarted(f"{number}", 1), 0.0)
        tally.record(TaskEnded(passed(f"{number}", seconds=27.0)), 0.0)
    for number in range(4):
        tally.record(TaskStarted(f"r{number}", 1), 250.0)
    return tally


def test_the_whole_line() -> None:
    assert summary_line(make_tally(), 250.0, PLAIN, 200) == (
        "37/200 done · 30 passed · 5 failed · 2 errors · 4 running · 159 waiting · $1.24 · 3.1M tokens · "
        "4 min 10 s · about 18 min left"
    )


def test_failures_stay_on_a_narrow_terminal() -> None:
    assert summary_line(make_tally(), 250.0, PLAIN, 39) == "37/200 done · 5 failed · 2 errors"
    assert summary_line(make_tally(), 250.0, PLAIN, 79) == (
        "37/200 done · 30 passed · 5 failed · 2 errors · $1.24 · about 18 min left"
    )


def test_colours_do_not_count() -> None:
    line = summary_line(make_tally(), 250.0, COLOURED, 79)
    assert strip_sequences(line) == summary_line(make_tally(), 250.0, PLAIN, 79)
    assert "\x1b[31m5 failed\x1b[0m" in line


def test_the_end_of_a_batch() -> None:
    tally = make_tally()
    tally.record(BatchEnded({"passed": 190, "failed": 10}, 4.2, 5_000_000, 1330.0, "", 3), 0.0)
    assert join_parts(end_parts(tally, 0.0), PLAIN, 200) == (
        "200/200 done · 190 passed · 10 failed · $4.20 · 3 prices unknown · 5.0M tokens · 22 min 10 s"
    )
    assert end_reason(tally) == ""


def test_an_end_without_its_event() -> None:
    tally = make_tally()
    assert join_parts(end_parts(tally, 300.0), PLAIN, 200).startswith("37/200 done · 30 passed")
    assert "resume" in end_reason(tally)


def test_a_reason_is_made_safe() -> None:
    tally = make_tally()
    tally.record(BatchEnded({}, 0.0, 0, 0.0, "Cost limit\n\x1b[31mreached"), 0.0)
    assert end_reason(tally) == "Cost limit reached"


@given(
    st.integers(0, 220),
    st.dictionaries(st.sampled_from(TaskStatus), st.integers(0, 10**6)),
    st.integers(0, 10**7),
    st.floats(0, 1e9),
    st.integers(0, 40),
    st.floats(0, 1e7),
)
def test_the_line_fits_any_width(
    width: int, counts: dict[TaskStatus, int], total: int, cost: float, running: int, now: float
) -> None:
    tally = BatchTally(0.0)
    tally.record(BatchStarted(total, spent_cost=cost, spent_tokens=total), 0.0)
    tally.counts = Counter(counts)
    for number in range(running):
        tally.record(TaskStarted(f"{number}", 1), 0.0)
    for style in (PLAIN, COLOURED):
        assert text_width(strip_sequences(summary_line(tally, now, style, width))) <= width
        assert text_width(strip_sequences(join_parts(end_parts(tally, now), style, width))) <= width

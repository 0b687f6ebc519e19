"""The live area: as many tasks as fit, the bar, the summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.batch_results import errored, failed, passed
from tejat.batch.events import BatchStarted, TaskEnded, TaskPhase, TaskProgressed, TaskStarted
from tejat.batch.progress.frame import live_rows
from tejat.batch.progress.tally import BatchTally
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width
from tejat.workspace.text.terminal_text import strip_sequences

PLAIN = TerminalStyle(None)
COLOURED = TerminalStyle(None, is_coloured=True)


def make_tally(running: int, *, total: int = 20) -> BatchTally:
    tally = BatchTally(0.0)
    tally.record(BatchStarted(total, jobs=4), 0.0)
    for number in range(running):
        tally.record(TaskStarted(f"django-{number}", 1 + number % 2), 0.0)
        tally.record(TaskProgressed(f"django-{number}", TaskPhase.RUNNING, "replace src/price.py"), 0.0)
    return tally


def test_rows() -> None:
    assert live_rows(make_tally(2), 65.0, PLAIN, (80, 24), id_width=10) == [
        "● django-0    running    replace src/price.py                         1 min 5 s",
        "● django-1    running    (attempt 2) replace src/price.py             1 min 5 s",
        "......................................................   0 %",
        "0/20 done · 2 running · 18 waiting · 1 min 5 s",
    ]


def test_on_a_narrow_terminal_the_activity_goes_first() -> None:
    assert live_rows(make_tally(1), 5.0, PLAIN, (40, 24), id_width=13)[0] == "● django-0       running    5 s"
    assert live_rows(make_tally(1), 5.0, PLAIN, (20, 24), id_width=8)[0] == "● django-0  5 s"


@pytest.mark.parametrize(("rows", "shown", "more"), [(24, 12, "+28 more"), (30, 16, "+24 more"), (6, 0, "+40 more")])
def test_more_tasks_than_rows(rows: int, shown: int, more: str) -> None:
    area = live_rows(make_tally(40), 1.0, PLAIN, (80, rows), id_width=10)
    assert sum(row.startswith("●") for row in area) == shown
    assert f"  {more}" in area
    assert len(area) < rows


def test_a_tiny_terminal_has_the_summary() -> None:
    assert live_rows(make_tally(3), 1.0, PLAIN, (80, 3), id_width=10) == ["0/20 done · 3 running · 17 waiting · 1 s"]


def test_the_bar_shows_every_state_that_occurs() -> None:
    tally = make_tally(0, total=1000)
    for number in range(500):
        tally.record(TaskEnded(passed(f"p{number}")), 0.0)
    tally.record(TaskEnded(failed("f")), 0.0)
    tally.record(TaskEnded(errored("e")), 0.0)
    bar = live_rows(tally, 0.0, PLAIN, (80, 24), id_width=8)[0]
    assert bar == "#" * 27 + "x!" + "." * 25 + "  50 %"
    coloured = live_rows(tally, 0.0, COLOURED, (80, 24), id_width=8)[0]
    assert "\x1b[31m━\x1b[0m\x1b[33m━\x1b[0m" in coloured


@given(st.integers(1, 130), st.integers(1, 60), st.integers(0, 50), st.text(max_size=60), st.text(max_size=100))
def test_the_area_fits_any_terminal(columns: int, rows: int, running: int, task_id: str, activity: str) -> None:
    tally = make_tally(running)
    tally.record(TaskStarted(task_id, 1), 0.0)
    tally.record(TaskProgressed(task_id, TaskPhase.CHECKING, activity), 0.0)
    for style in (PLAIN, COLOURED):
        area = live_rows(tally, 1e5, style, (columns, rows), id_width=min(max(columns // 3, 8), 40))
        assert len(area) <= max(rows - 1, 1)
        assert all(text_width(strip_sequences(row)) <= max(columns - 1, 1) for row in area)

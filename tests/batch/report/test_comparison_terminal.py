"""The comparison for a terminal."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.batch_results import errored, failed, passed, results
from tejat.batch.report.comparison import compare_batches
from tejat.batch.report.comparison_terminal import render_comparison
from tejat.batch.result import TaskResult
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width

PLAIN = TerminalStyle(None)


def test_a_comparison() -> None:
    first = [passed("a"), passed("b"), failed("c"), passed("d")]
    second = [passed("a"), failed("b"), failed("c"), errored("d")]
    compared = compare_batches(first, second, first_name="gemini", second_name="gpt")
    shown = render_comparison(compared, PLAIN, 80)
    assert (
        shown
        == """\
                   gemini    gpt
tasks                   4      4
passed                  3      1
failed                  1      2
error                   0      1
pass rate            75 %   25 %
cost                $0.09  $0.08
tokens              6,900  3,800
time of all tasks    45 s   30 s

TASKS  OUTCOME
    1  passed in both
    1  passed only in gemini
    0  passed only in gpt
    1  failed in both
    1  error or skipped in one, not compared
    0  in one batch only

1 task passed only in gemini, 0 tasks only in gpt. This may be chance: two
equally good batches differ at least this much in 100 % of all comparisons (p =
1). More tasks, or several runs of each, would show more.

Cost on 1 task passed in both: $0.02 to $0.02 (+0 %); less in gemini on 0, in
gpt on 0.
Time on 1 task passed in both: 12 s to 12 s (+0 %); less in gemini on 0, in gpt
on 0.

TASK  gemini    gpt       COST           TIME
b     ✓ passed  ✗ failed  $0.02 / $0.03  12 s / 9.0 s
3 other tasks not listed."""
    )
    assert "d     ✓ passed  ! error" in render_comparison(compared, PLAIN, 80, shows_all=True)


@settings(max_examples=60)
@given(
    st.lists(results(), max_size=6),
    st.lists(results(), max_size=6),
    st.text(max_size=40),
    st.text(max_size=40),
    st.integers(40, 120),
)
def test_any_comparison_fits(
    first: list[TaskResult], second: list[TaskResult], one: str, other: str, width: int
) -> None:
    compared = compare_batches(first, second, first_name=one, second_name=other)
    shown = render_comparison(compared, PLAIN, width, shows_all=True)
    assert all(text_width(line) <= width for line in shown.split("\n"))

"""The report for a terminal: totals first, then what did not pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.batch_results import errored, failed, many_results, passed, results, skipped
from tejat.batch.report.figures import collect_figures
from tejat.batch.report.terminal import rate_label, render
from tejat.batch.result import TaskFailure, TaskResult
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width
from tejat.workspace.text.terminal_text import strip_sequences

PLAIN = TerminalStyle(None)
LIMIT = failed("d", failure=TaskFailure.LIMIT, check_exit_code=None, message="The run reached its limit of 40 turns.")


def report(*given_results: TaskResult, width: int = 80, shows_all: bool = False) -> str:
    return render(collect_figures(given_results), given_results, PLAIN, width, shows_all=shows_all)


def test_a_report() -> None:
    assert (
        report(passed("a"), failed("b"), errored("日本"), LIMIT, skipped("e"))
        == """\
5 tasks: 1 passed · 2 failed · 1 error · 1 skipped
Passed  25 % (95 % interval 5 to 70 %)
Cost    $0.08 · mean $0.0267 · median $0.03 · 90 % within $0.03 · $0.08 per
        passed task
Time    30 s · mean 10 s · median 9.0 s · 90 % within 12 s
Tokens  3,800 · 0 tool calls

TASKS  REASON
    1  batch limit reached
    1  check failed
    1  task limit reached
    1  repository not usable

STATUS     TASK   TIME   COST  RESULT
✗ failed   b     9.0 s  $0.03  check failed (exit 1)
✗ failed   d     9.0 s  $0.03  task limit reached
    The run reached its limit of 40 turns.
! error    日本                repository not usable
    No such repository: /src/x.
- skipped  e                   batch limit reached
1 passed task not listed."""
    )


def test_all_tasks_are_listed_on_demand() -> None:
    assert "✓ passed  a" in report(passed("a"), failed("b"), shows_all=True)
    assert "not listed" not in report(passed("a"), failed("b"), shows_all=True)


def test_groups_appear_if_there_are_several() -> None:
    shown = report(passed("a", model="m"), failed("b", model="m"), passed("c", model="n"))
    assert "    2       1   50 %  $0.05  21 s  m\n    1       1  100 %  $0.02  12 s  n" in shown
    assert "REPOSITORY" not in shown
    each_its_own = report(passed("a", repo="/x"), passed("b", repo="/y"))
    assert "REPOSITORY" not in each_its_own


def test_nothing_yet() -> None:
    assert report() == "No results yet."


@pytest.mark.parametrize(
    ("rate", "label"), [(None, "?"), (1.0, "100 %"), (0.0, "0 %"), (0.996, "99.6 %"), (0.004, "0.4 %"), (0.5, "50 %")]
)
def test_rates_never_claim_all_or_nothing(rate: float | None, label: str) -> None:
    assert rate_label(rate) == label


def test_ten_thousand_tasks() -> None:
    shown = report(*many_results(10_000), shows_all=True)
    assert sum(line.startswith(("✓", "✗", "!", "-")) for line in shown.splitlines()) == 10_000


@settings(max_examples=60)
@given(st.lists(results(), max_size=8), st.integers(20, 120), st.booleans())
def test_any_results_fit(given_results: list[TaskResult], width: int, shows_all: bool) -> None:
    style = TerminalStyle(None, is_coloured=True)
    shown = render(collect_figures(given_results), given_results, style, width, shows_all=shows_all)
    for line in strip_sequences(shown).split("\n"):
        assert text_width(line) <= max(width, 26), line

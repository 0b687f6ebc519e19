"""Rows and lines of finished tasks, retries and notices."""

from hypothesis import given
from hypothesis import strategies as st

from support.batch_results import errored, failed, passed, results
from tejat.batch.events import BatchNoticed, TaskRetried
from tejat.batch.progress.task_lines import notice_rows, result_line, result_rows, retry_rows, retry_text
from tejat.batch.result import TaskResult
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width
from tejat.workspace.text.terminal_text import strip_sequences

PLAIN = TerminalStyle(None)
COLOURED = TerminalStyle(None, is_coloured=True)


def test_rows_of_a_wide_terminal() -> None:
    assert result_rows(passed("django-123"), PLAIN, 79, 12) == [
        "✓ django-123    passed          12 s     $0.02  +10 -2"
    ]
    assert result_rows(failed("django-9"), PLAIN, 79, 12) == [
        "✗ django-9      failed         9.0 s     $0.03  check failed (exit 1)"
    ]
    assert result_rows(errored("a"), PLAIN, 79, 12) == [
        "! a             error                           No such repository: /src/x."
    ]


def test_rows_of_a_narrow_terminal() -> None:
    assert result_rows(passed("django__django-11023"), PLAIN, 39, 13) == ["✓ djan…go-11023  12 s  +10 -2"]
    assert result_rows(errored("a"), PLAIN, 39, 8) == ["! a         No such repository: /src/x."]


def test_a_long_message_gets_three_rows() -> None:
    rows = result_rows(errored("a", message="word " * 100), PLAIN, 39, 8)
    assert len(rows) == 3
    assert rows[-1].endswith("…")


def test_the_sign_has_the_colour() -> None:
    assert result_rows(failed("a"), COLOURED, 79, 8)[0].startswith("\x1b[31m✗\x1b[0m a ")


def test_lines_of_a_log() -> None:
    assert result_line(passed("a"), PLAIN) == "✓ a  passed  12 s  $0.02  +10 -2"
    assert result_line(errored("a"), PLAIN) == "! a  error  No such repository: /src/x."


def test_retries_and_notices() -> None:
    retried = TaskRetried("a", 1, "The service is overloaded.", 5.0)
    assert retry_text(retried) == "a: attempt 1 failed, next one in 5.0 s: The service is overloaded."
    assert retry_rows(retried, PLAIN, 100)[0].startswith("↻ a: attempt 1")
    assert notice_rows(BatchNoticed("Rate limit\nof 60"), PLAIN, 100) == ["▲ Rate limit of 60"]


@given(results(), st.integers(12, 120))
def test_any_result_fits_and_is_safe(result: TaskResult, width: int) -> None:
    rows = result_rows(result, COLOURED, width, max(width // 3, 8))
    assert 1 <= len(rows) <= 3
    for row in rows:
        plain = strip_sequences(row)
        assert text_width(plain) <= width
        assert plain.isprintable() or not plain.isascii()
    assert len(result_line(result, PLAIN).splitlines()) == 1
